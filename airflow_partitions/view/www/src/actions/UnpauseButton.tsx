import { Button, Dialog, RadioGroup, Stack, Text } from "@chakra-ui/react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { counted } from "../page/amounts";
import { Refusal } from "../page/Refusal";
import { tell } from "../page/toasts";
import { unpauseDag } from "../rest/airflow";
import { ActionDialog, type Shown } from "./ActionDialog";
import { DialogButtons } from "./DialogButtons";
import { TextField } from "./fields";
import { type Choice, followWords, type Missed, missedQuery, unpauseWith } from "./missed";
import { PartitionsField } from "./PartitionsFields";
import { atFields, isAtField } from "./refusals";
import { readOptions, USUAL } from "./runOptions";

const Option = ({ value, help, children }: { value: Choice; help: string; children: ReactNode }) => (
  <RadioGroup.Item value={value} alignItems="start">
    <RadioGroup.ItemHiddenInput />
    <RadioGroup.ItemIndicator mt={0.5} />
    <RadioGroup.ItemText>
      {children}
      <Text as="span" display="block" fontSize="xs" fontWeight="normal" color="fg.muted">
        {help}
      </Text>
    </RadioGroup.ItemText>
  </RadioGroup.Item>
);

const Question = ({
  missed,
  onClose,
  onUnpaused,
}: { readonly missed: Missed; readonly onUnpaused: () => void } & Pick<Shown, "onClose">) => {
  const queries = useQueryClient();
  const [choice, setChoice] = useState<Choice>("follow");
  const [partitions, setPartitions] = useState(missed.partitions);
  const [texts, setTexts] = useState(USUAL);
  const { options, mistakes } = readOptions(texts);
  const order = useMutation({
    mutationFn: () => unpauseWith(missed, choice, partitions, options.concurrency),
    onSuccess: (requests) => {
      const asked = requests.length === 0 ? "" : `; asked for, as request ${requests.join(", ")}`;
      tell(`${missed.dag_id} is no longer paused${asked}`);
      onUnpaused();
      onClose();
    },
    onSettled: () => queries.invalidateQueries(),
  });
  const wrong = { ...atFields(order.error, partitions), ...mistakes };
  return (
    <>
      <Dialog.Body>
        <Stack gap={4}>
          <Text fontWeight="semibold" overflowWrap="anywhere">
            Once it is unpaused, {followWords(missed)}:
          </Text>
          <Text color="fg.muted" overflowWrap="anywhere" lineClamp={4} title={missed.partitions}>
            <bdi>{missed.partitions}</bdi>
          </Text>
          <RadioGroup.Root
            size="sm"
            colorPalette="brand"
            aria-label="What becomes of them"
            value={choice}
            onValueChange={({ value }) => setChoice(value as Choice)}
          >
            <Stack gap={3}>
              <Option value="follow" help="Upkeep asks for them, as if the Dag had not been paused">
                {missed.count === 1 ? "Let it follow" : "Let all of them follow"}
              </Option>
              <Option
                value="ask"
                help="Only these are made, some at a time, as a request that you can pause and cancel"
              >
                Ask for them in portions, and skip the others
              </Option>
              <Option value="skip" help="Nothing runs for them; they can still be asked for">
                {missed.count === 1 ? "Skip it" : "Skip all of them"}
              </Option>
            </Stack>
          </RadioGroup.Root>
          {choice === "ask" ? (
            <>
              <PartitionsField value={partitions} onChange={setPartitions} mistake={wrong.select} />
              <TextField
                label="Runs at a time, at most"
                type="number"
                value={texts.concurrency}
                onChange={(concurrency) => setTexts({ ...texts, concurrency })}
                mistake={wrong.concurrency}
              />
            </>
          ) : null}
          {order.error && !isAtField(order.error, ["select", "concurrency"]) ? <Refusal error={order.error} /> : null}
        </Stack>
      </Dialog.Body>
      <DialogButtons
        disabled={choice === "ask" && (partitions.trim() === "" || mistakes.concurrency !== undefined)}
        loading={order.isPending}
        onCancel={onClose}
        onGo={() => order.mutate()}
      >
        {choice === "follow"
          ? `Unpause: ${counted(missed.count, "partition")} follow${missed.count === 1 ? "s" : ""}`
          : choice === "skip"
            ? "Skip and unpause"
            : "Unpause and ask"}
      </DialogButtons>
    </>
  );
};

/** Has Airflow begin runs of a Dag again; where partitions would follow, it asks what is to become of them. */
export const UnpauseButton = ({
  dag,
  size = "sm",
  onUnpaused = () => undefined,
}: {
  readonly dag: string;
  readonly size?: "xs" | "sm";
  readonly onUnpaused?: () => void;
}) => {
  const queries = useQueryClient();
  const [missed, setMissed] = useState<Missed>();
  const [open, setOpen] = useState(false);
  const order = useMutation({
    mutationFn: async () => {
      const found = await queries.query({ ...missedQuery(dag), staleTime: 0 });
      if (found === null) return unpauseDag(dag);
      setMissed(found);
      setOpen(true);
      return null;
    },
    onSuccess: (unpaused) => {
      if (unpaused === null) return undefined;
      tell(`${dag} is no longer paused`);
      onUnpaused();
      return queries.invalidateQueries();
    },
  });
  return (
    <>
      <Button
        size={size}
        variant="outline"
        aria-label={`Unpause: ${dag}`}
        loading={order.isPending}
        onClick={() => order.mutate()}
      >
        Unpause
      </Button>
      {order.error ? <Refusal error={order.error} /> : null}
      {missed === undefined ? null : (
        <ActionDialog open={open} onClose={() => setOpen(false)} title={`Unpause ${dag}?`}>
          <Question missed={missed} onClose={() => setOpen(false)} onUnpaused={onUnpaused} />
        </ActionDialog>
      )}
    </>
  );
};
