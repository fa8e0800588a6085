import { Button, Dialog, Skeleton, Stack, Text } from "@chakra-ui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { RequestProgress } from "../requests/RequestProgress";
import { rest } from "../rest/client";
import type { components } from "../rest/schema";
import { ActionDialog, type Shown } from "./ActionDialog";
import { DialogButtons } from "./DialogButtons";
import { counted } from "../page/amounts";
import { Tick } from "./fields";
import { OptionsFields } from "./OptionsFields";
import { asQuery, type Partitions } from "./partitions";
import { PartitionsFields } from "./PartitionsFields";
import { PausedDags, usePaused } from "./PausedDags";
import { numbersOf, PlanPreview } from "./PlanPreview";
import { Refusal } from "../page/Refusal";
import { atFields, isAtField } from "./refusals";
import { readOptions, USUAL } from "./runOptions";
import { useAsset } from "../assets/useAsset";
import { usePlan } from "./usePlan";
import { useSettled } from "../page/useSettled";

const FIELDS = ["select", "concurrency", "label", "conf"];

type Asked = { readonly asset: string; readonly partitions: Partitions };

/** What was asked for, each request with how far it has come. */
export const Requested = ({
  requested,
}: {
  readonly requested: Pick<components["schemas"]["Requested"], "plan" | "requests">;
}) => (
  <Stack gap={3} role="status">
    <Text>
      {requested.requests.length === 0
        ? "No run begins at once: events of what is upstream start the runs."
        : `Asked for ${counted(numbersOf(requested.plan).asked, "partition")}.`}
    </Text>
    {requested.requests.map(({ id }) => (
      <RequestProgress key={id} request={id} />
    ))}
  </Stack>
);

/** The inside of the dialog. */
export const MaterializeForm = ({ asset, partitions: first, onClose }: Asked & Pick<Shown, "onClose">) => {
  const queries = useQueryClient();
  const [partitions, setPartitions] = useState(first);
  const [upstream, setUpstream] = useState(false);
  const [texts, setTexts] = useState(USUAL);
  const order = rest.useMutation("post", "/api/v1/assets/{asset}/requests", {
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "plan" }),
  });
  const settled = useSettled(partitions);
  const asked = { asset, partitions: settled, upstream, whilePaused: texts.whilePaused };
  const plan = usePlan(asked, order.data === undefined);
  const { data: about } = useAsset(asset); // what is asked of a paused Dag is refused, and then there is no plan
  const beginning = plan.data?.steps.filter(({ begin }) => begin > 0).map(({ dag_id }) => dag_id) ?? [];
  const dags = plan.error ? (about?.paused ?? []) : beginning;
  const paused = usePaused(dags);
  const { options, mistakes } = readOptions(texts);
  if (order.data) {
    return (
      <>
        <Dialog.Body>
          <Requested requested={order.data} />
        </Dialog.Body>
        <Dialog.Footer>
          <Button onClick={onClose}>Close</Button>
        </Dialog.Footer>
      </>
    );
  }
  const refusal = order.error ?? plan.error;
  const wrong = { ...atFields(refusal, settled.selection), ...mistakes };
  const current = !plan.error && !plan.isPlaceholderData && settled === partitions ? plan.data : undefined;
  return (
    <>
      <Dialog.Body>
        <Stack gap={4}>
          <PartitionsFields
            asset={asset}
            partitions={partitions}
            onChange={(changed) => {
              order.reset();
              setPartitions(changed);
            }}
            mistake={wrong.select}
          />
          <Tick label="Make what is missing upstream first" checked={upstream} onChange={setUpstream} />
          {plan.data !== undefined && !plan.error ? <PlanPreview plan={plan.data} /> : null}
          {plan.isPending ? <Skeleton height={24} aria-label="The plan is being made" /> : null}
          <PausedDags
            dags={dags}
            meaning={texts.whilePaused ? "It makes these partitions, and nothing else begins." : undefined}
          />
          {paused.length > 0 ? (
            <Tick
              label="Make these while it is paused"
              help="Its schedule begins no other runs, and it is paused again afterwards"
              checked={texts.whilePaused}
              onChange={(whilePaused) => setTexts({ ...texts, whilePaused })}
            />
          ) : null}
          <OptionsFields texts={texts} onChange={setTexts} mistakes={wrong} />
          {refusal !== null && !isAtField(refusal, FIELDS) ? <Refusal error={refusal} /> : null}
        </Stack>
      </Dialog.Body>
      <DialogButtons
        disabled={
          current === undefined || (paused.length > 0 && !texts.whilePaused) || Object.keys(mistakes).length > 0
        }
        loading={order.isPending}
        onCancel={onClose}
        onGo={() =>
          order.mutate({
            params: { path: { asset } },
            body: { ...options, ...asQuery(partitions), upstream, downstream: false, dry_run: false },
          })
        }
      >
        {current === undefined ? "Materialize" : `Materialize ${counted(numbersOf(current).asked, "partition")}`}
      </DialogButtons>
    </>
  );
};

/** Asks for partitions of an asset: what would be made, how, and then how far it has come. */
export const MaterializeDialog = ({
  asset,
  partitions,
  title = `Materialize partitions of ${asset}`,
  open,
  onClose,
}: Asked & Shown & { readonly title?: string }) => (
  <ActionDialog open={open} onClose={onClose} title={title}>
    <MaterializeForm asset={asset} partitions={partitions} onClose={onClose} />
  </ActionDialog>
);
