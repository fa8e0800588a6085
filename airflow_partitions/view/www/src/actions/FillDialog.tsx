import { Alert, Box, Button, Dialog, HStack, Skeleton, Stack, Text } from "@chakra-ui/react";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { browserZone, momentText } from "../grid/zone";
import { counted } from "../page/amounts";
import { Refusal } from "../page/Refusal";
import { useSettled } from "../page/useSettled";
import { client, rest } from "../rest/client";
import type { components } from "../rest/schema";
import { StateName } from "../states/StateName";
import type { State } from "../states/state";
import { ActionDialog, type Shown } from "./ActionDialog";
import { DialogButtons } from "./DialogButtons";
import { Tick } from "./fields";
import { Requested } from "./MaterializeDialog";
import { OptionsFields } from "./OptionsFields";
import type { Stretch } from "./partitions";
import { numbersOf, PlanPreview } from "./PlanPreview";
import { atFields, isAtField } from "./refusals";
import { readOptions, USUAL, type RunOptions } from "./runOptions";

type Filled = components["schemas"]["Filled"];

const LACKING = ["missing", "failed", "waiting"] as const satisfies readonly State[];

const bodyOf = ({ assets, since, until }: Stretch, states: readonly State[], options: RunOptions) => ({
  asset: [...assets],
  since,
  until,
  states: [...states],
  ...options,
});

/** What would be asked for; nothing while no state is chosen. */
const useFill = (stretch: Stretch, states: readonly State[], whilePaused: boolean, enabled: boolean) =>
  useQuery({
    queryKey: ["plan", "fill", stretch, states, whilePaused],
    queryFn: async ({ signal }) => {
      const { data } = await client.POST("/api/v1/fill", {
        body: { ...bodyOf(stretch, states, readOptions({ ...USUAL, whilePaused }).options), dry_run: true },
        signal,
      });
      return data as Filled;
    },
    placeholderData: keepPreviousData,
    enabled: enabled && states.length > 0,
    gcTime: 0,
  });

const LeftOut = ({ filled }: { readonly filled: Filled }) => {
  const { left_out: assets } = filled;
  return assets.length === 0 ? null : (
    <Alert.Root status="warning">
      <Alert.Indicator />
      <Alert.Content minW={0}>
        <Alert.Title>{counted(assets.length, "asset")} left out</Alert.Title>
        <Box maxH={32} overflowY="auto" tabIndex={0} role="group" aria-label="Assets left out">
          {assets.map(({ asset, why }) => (
            <Alert.Description key={asset} overflowWrap="anywhere">
              <bdi>{asset}</bdi>: {why}
            </Alert.Description>
          ))}
        </Box>
      </Alert.Content>
    </Alert.Root>
  );
};

const FillForm = ({ stretch, onClose }: { readonly stretch: Stretch } & Pick<Shown, "onClose">) => {
  const queries = useQueryClient();
  const [states, setStates] = useState<readonly State[]>(LACKING);
  const [texts, setTexts] = useState(USUAL);
  const order = rest.useMutation("post", "/api/v1/fill", {
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "plan" }),
  });
  const settled = useSettled(states);
  const fill = useFill(stretch, settled, texts.whilePaused, order.data === undefined);
  const { options, mistakes } = readOptions(texts);
  const [since, until] = [stretch.since, stretch.until].map((at) =>
    at === null ? "now" : momentText(Date.parse(at), browserZone()),
  );
  if (order.data) {
    return (
      <>
        <Dialog.Body>
          <Stack gap={3}>
            <LeftOut filled={order.data} />
            <Requested requested={order.data} />
          </Stack>
        </Dialog.Body>
        <Dialog.Footer>
          <Button onClick={onClose}>Close</Button>
        </Dialog.Footer>
      </>
    );
  }
  const refusal = order.error ?? fill.error;
  const wrong = { ...atFields(refusal), ...mistakes };
  const current = !fill.error && !fill.isPlaceholderData && settled === states ? fill.data : undefined;
  const asked = current === undefined ? 0 : numbersOf(current.plan).asked;
  return (
    <>
      <Dialog.Body>
        <Stack gap={4}>
          <Text>
            Partitions of {counted(stretch.assets.length, "asset")} that begin from {since} to {until}, and are
          </Text>
          <HStack gap={4} wrap="wrap" role="group" aria-label="States to fill">
            {LACKING.map((state) => (
              <Tick
                key={state}
                label={<StateName state={state} />}
                checked={states.includes(state)}
                onChange={(checked) => {
                  order.reset();
                  setStates(LACKING.filter((one) => (one === state ? checked : states.includes(one))));
                }}
              />
            ))}
          </HStack>
          {fill.data !== undefined && !fill.error ? (
            <>
              <PlanPreview plan={fill.data.plan} />
              <LeftOut filled={fill.data} />
            </>
          ) : null}
          {fill.isLoading ? <Skeleton height={24} aria-label="The plan is being made" /> : null}
          <Tick
            label="Also of Dags that are paused"
            help="Their schedules begin no other runs, and they are paused again afterwards"
            checked={texts.whilePaused}
            onChange={(whilePaused) => setTexts({ ...texts, whilePaused })}
          />
          <OptionsFields texts={texts} onChange={setTexts} mistakes={wrong} />
          {refusal !== null && !isAtField(refusal, ["concurrency", "label", "conf"]) ? (
            <Refusal error={refusal} />
          ) : null}
        </Stack>
      </Dialog.Body>
      <DialogButtons
        disabled={asked === 0 || Object.keys(mistakes).length > 0}
        loading={order.isPending}
        onCancel={onClose}
        onGo={() => order.mutate({ body: { ...bodyOf(stretch, states, options), dry_run: false } })}
      >
        {asked === 0 ? "Materialize" : `Materialize ${counted(asked, "partition")}`}
      </DialogButtons>
    </>
  );
};

/** Asks for what is missing of several assets over one stretch of time, by one plan. */
export const FillDialog = ({ stretch, open, onClose }: { readonly stretch: Stretch } & Shown) => (
  <ActionDialog open={open} onClose={onClose} title={`Fill ${counted(stretch.assets.length, "asset")}`}>
    <FillForm stretch={stretch} onClose={onClose} />
  </ActionDialog>
);

/** Opens {@link FillDialog}; without assets that one may ask for it has its place and does nothing. */
export const FillButton = ({ stretch, children }: { readonly stretch: Stretch | null; readonly children: string }) => {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button size="sm" variant="outline" disabled={stretch === null} onClick={() => setOpen(true)}>
        {children}
      </Button>
      {stretch === null ? null : <FillDialog stretch={stretch} open={open} onClose={() => setOpen(false)} />}
    </>
  );
};
