import { Dialog, Skeleton, Stack, Text } from "@chakra-ui/react";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { ActionDialog, type Shown } from "./ActionDialog";
import { DialogButtons } from "./DialogButtons";
import { counted, number } from "../page/amounts";
import { canTakeBack, correct, type Kind, type Outcome, takeBack } from "./corrections";
import { LinesField, Tick } from "./fields";
import type { Partitions } from "./partitions";
import { PartitionsField } from "./PartitionsFields";
import { Refusal } from "../page/Refusal";
import { atFields, isAtField } from "./refusals";
import { tell, tellRefusal } from "../page/toasts";
import { useSelectionText } from "./useSelectionText";
import { useSettled } from "../page/useSettled";

const WORDS = {
  mark: {
    verb: "Mark",
    done: "Marked",
    about: "They count as materialized from now on, without a run. Storage is not touched.",
    others: "materialized already, and are again",
    example: "For example: loaded by hand",
  },
  forget: {
    verb: "Forget",
    done: "Forgot",
    about: "They count as missing until they are materialized again. Storage is not touched, and nothing runs.",
    others: "missing already",
    example: "For example: the source was wrong",
  },
} as const;

const preview = (kind: Kind, { count, others }: Outcome): string =>
  `${counted(count, "partition")} would be ${kind === "mark" ? "marked" : "forgotten"}` +
  (others > 0 ? `; ${number(others)} ${kind === "mark" ? "of them are" : "others are"} ${WORDS[kind].others}` : "");

type Asked = { readonly asset: string; readonly kind: Kind };

const Form = ({ asset, kind, selection, onClose }: Asked & { selection: string } & Pick<Shown, "onClose">) => {
  const queries = useQueryClient();
  const words = WORDS[kind];
  const [select, setSelect] = useState(selection);
  const [reason, setReason] = useState("");
  const [quiet, setQuiet] = useState(false);
  const settled = useSettled(select);
  const dryRun = useQuery({
    queryKey: ["correction", asset, kind, settled],
    queryFn: ({ signal }) => correct({ asset, kind, select: settled, reason: "", quiet: false }, true, signal),
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const order = useMutation({
    mutationFn: () => correct({ asset, kind, select, reason, quiet }, false),
    onSuccess: (outcome) => {
      const undo = () => {
        takeBack({ asset, kind, select, reason, quiet }, outcome)
          .then(() => {
            tell(`${words.verb}: taken back`);
            return queries.invalidateQueries();
          })
          .catch((error: unknown) => tellRefusal(error instanceof Error ? error : new Error(String(error))));
      };
      tell(`${words.done} ${counted(outcome.count, "partition")} of ${asset}`, canTakeBack(outcome) ? undo : undefined);
      onClose();
      return queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== "correction" });
    },
  });
  const refusal = order.error ?? dryRun.error;
  const mistakes = atFields(refusal, settled);
  const ready = dryRun.data !== undefined && !dryRun.error && !dryRun.isPlaceholderData && settled === select;
  return (
    <>
      <Dialog.Body>
        <Stack gap={4}>
          <Text>{words.about}</Text>
          <PartitionsField
            value={select}
            onChange={(text) => {
              order.reset();
              setSelect(text);
            }}
            mistake={mistakes.select}
          />
          <LinesField
            label="Reason"
            help={`It is kept. ${words.example}`}
            value={reason}
            onChange={setReason}
            mistake={mistakes.reason}
          />
          {kind === "mark" ? (
            <Tick label="Quietly: let nothing downstream run for it" checked={quiet} onChange={setQuiet} />
          ) : null}
          {dryRun.isPending ? <Skeleton height={5} /> : null}
          {dryRun.data !== undefined && !dryRun.error ? (
            <Text role="status" fontWeight="semibold">
              {preview(kind, dryRun.data)}
            </Text>
          ) : null}
          {refusal !== null && !isAtField(refusal, ["select", "reason"]) ? <Refusal error={refusal} /> : null}
        </Stack>
      </Dialog.Body>
      <DialogButtons
        disabled={!ready || dryRun.data.count === 0}
        loading={order.isPending}
        dangerous={kind === "forget"}
        onCancel={onClose}
        onGo={() => order.mutate()}
      >
        {words.verb}
      </DialogButtons>
    </>
  );
};

/** The inside of the dialog. */
export const CorrectionForm = ({
  partitions,
  ...props
}: Asked & { partitions: Partitions } & Pick<Shown, "onClose">) => {
  const { text, error } = useSelectionText(props.asset, partitions);
  if (text !== undefined) return <Form {...props} selection={text} />;
  return (
    <Dialog.Body pb={6}>
      {error ? <Refusal error={error} /> : <Skeleton height={24} aria-label="Loading" />}
    </Dialog.Body>
  );
};

/** Marks partitions as materialized, or has them forgotten: with a reason, after telling how many that is. */
export const CorrectionDialog = ({ open, onClose, ...props }: Asked & { readonly partitions: Partitions } & Shown) => (
  <ActionDialog open={open} onClose={onClose} title={`${WORDS[props.kind].verb} partitions of ${props.asset}`}>
    <CorrectionForm {...props} onClose={onClose} />
  </ActionDialog>
);
