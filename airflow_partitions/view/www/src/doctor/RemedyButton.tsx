import { Button, Clipboard, Code, HStack } from "@chakra-ui/react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { counted } from "../page/amounts";
import { MaterializeDialog } from "../actions/MaterializeDialog";
import type { Partitions } from "../actions/partitions";
import { UnpauseButton } from "../actions/UnpauseButton";
import { Refusal } from "../page/Refusal";
import { tell } from "../page/toasts";
import { client } from "../rest/client";
import { without, type Diagnosis, type Problem } from "./problem";

/** What a button does at once; its words say what was done. */
type Deed = { readonly label: string; readonly of: string; readonly mend: () => Promise<string> };

const deedOf = ({ remedy, asset, request }: Problem): Deed | undefined => {
  if (remedy?.kind === "reconcile" && asset !== null) {
    const mend = async () => {
      const { data } = await client.POST("/api/v1/assets/{asset}/reconcile", { params: { path: { asset } } });
      return `${counted(data?.written ?? 0, "record")} of ${asset} written anew`;
    };
    return { label: "Reconcile", of: asset, mend };
  }
  if (request === null) return undefined;
  const options = { params: { path: { request } }, body: { dry_run: false } };
  const of = `request ${request}`;
  if (remedy?.kind === "retry-request") {
    const mend = async () => {
      await client.POST("/api/v1/requests/{request}/retry", options);
      return `Request ${request} runs again what failed`;
    };
    return { label: "Re-run failed", of, mend };
  }
  if (remedy?.kind === "resume-request") {
    const mend = async () => {
      await client.POST("/api/v1/requests/{request}/resume", options);
      return `Request ${request} goes on`;
    };
    return { label: "Resume", of, mend };
  }
  return undefined;
};

/** Takes a problem off the list until the server is asked again. */
const useMended = (problem: Problem) => {
  const queries = useQueryClient();
  return () =>
    queries.setQueriesData<Diagnosis>(
      { queryKey: ["get", "/api/v1/doctor"] },
      (diagnosis) => diagnosis && without(diagnosis, problem),
    );
};

const DeedButton = ({ deed: { label, of, mend }, problem }: { readonly deed: Deed; readonly problem: Problem }) => {
  const queries = useQueryClient();
  const mended = useMended(problem);
  const order = useMutation({
    mutationFn: mend,
    onSuccess: (words) => {
      tell(words);
      mended();
      return queries.invalidateQueries();
    },
  });
  return (
    <>
      <Button
        size="xs"
        variant="outline"
        aria-label={`${label}: ${of}`}
        loading={order.isPending}
        onClick={() => order.mutate()}
      >
        {label}
      </Button>
      {order.error && <Refusal error={order.error} />}
    </>
  );
};

const MaterializeButton = ({ asset, partitions }: { readonly asset: string; readonly partitions: Partitions }) => {
  const [open, setOpen] = useState(false);
  const words = partitions.states === undefined ? "Materialize…" : "Re-run failed…";
  return (
    <>
      <Button size="xs" variant="outline" aria-label={`${words}: ${asset}`} onClick={() => setOpen(true)}>
        {words}
      </Button>
      <MaterializeDialog asset={asset} partitions={partitions} open={open} onClose={() => setOpen(false)} />
    </>
  );
};

const Command = ({ command }: { readonly command: string }) => (
  <Clipboard.Root value={command}>
    <HStack wrap="wrap">
      <Code size="sm" whiteSpace="pre-wrap" overflowWrap="anywhere" minW={0}>
        {command}
      </Code>
      <Clipboard.Trigger asChild>
        <Button size="xs" variant="outline">
          <Clipboard.Indicator copied="Copied">Copy</Clipboard.Indicator>
        </Button>
      </Clipboard.Trigger>
    </HStack>
  </Clipboard.Root>
);

/** What mends a problem: a button, or a command to copy. */
export const RemedyButton = ({ problem }: { readonly problem: Problem }) => {
  const { remedy, asset, dag_id } = problem;
  const mended = useMended(problem);
  if (remedy === null) return null;
  if (dag_id !== null && (remedy.kind === "unpause-dag" || problem.kind === "missed-events")) {
    return (
      <HStack wrap="wrap">
        {remedy.command === null ? null : <Command command={remedy.command} />}
        <UnpauseButton dag={dag_id} size="xs" onUnpaused={mended} />
      </HStack>
    );
  }
  if (remedy.command !== null) return <Command command={remedy.command} />;
  if (remedy.kind === "materialize" && asset !== null && remedy.select !== null) {
    // Of several failed partitions the command names the newest; here all of them are as near.
    const failed = problem.kind === "failed-runs";
    return (
      <MaterializeButton asset={asset} partitions={failed ? { states: ["failed"] } : { selection: remedy.select }} />
    );
  }
  const deed = deedOf(problem);
  return deed === undefined ? null : <DeedButton deed={deed} problem={problem} />;
};
