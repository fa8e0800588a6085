import { Box, Button, HStack, Text } from "@chakra-ui/react";
import { useState } from "react";

import { useCounts } from "../selection/useCounts";
import { type Counts, totalOf } from "../states/state";
import { number } from "../page/amounts";
import { CorrectionDialog } from "./CorrectionDialog";
import { MaterializeDialog } from "./MaterializeDialog";
import type { Partitions } from "./partitions";

type Action = "materialize" | "again" | "fill" | "mark" | "forget";

const of = (counts: Counts, states: Partitions["states"]): number =>
  states === undefined || states.length === 0
    ? totalOf(counts)
    : states.reduce((total, state) => total + (counts[state] ?? 0), 0);

/** What may be done with some partitions of an asset, each in a dialog; nothing that would be refused. */
export const Actions = ({
  asset,
  selection,
  states = [],
  mayChange,
}: Partitions & {
  readonly asset: string;
  readonly selection: string;
  /** `undefined` as long as it is not known. */
  readonly mayChange: boolean | undefined;
}) => {
  const [action, setAction] = useState<Action>();
  const { data } = useCounts(asset, selection);
  if (mayChange === undefined) return <Box minH={9} />;
  if (!mayChange) {
    return <Text color="fg.muted">You may look at these partitions, and not change them.</Text>;
  }
  const counts = data?.counts ?? {};
  const picks = (...among: readonly ("failed" | "missing")[]) =>
    states.length === 0 ? among : among.filter((state) => states.includes(state));
  const failed = picks("failed").length === 0 ? 0 : (counts.failed ?? 0);
  const missing = picks("missing").length === 0 ? 0 : (counts.missing ?? 0);
  const total = of(counts, states);
  const close = () => setAction(undefined);
  const dialogs: Readonly<Record<"materialize" | "again" | "fill", readonly [title: string, Partitions]>> = {
    materialize: [`Materialize partitions of ${asset}`, { selection, states }],
    again: [`Re-run failed partitions of ${asset}`, { selection, states: ["failed"] }],
    fill: [`Fill missing partitions of ${asset}`, { selection, states: ["missing"] }],
  };
  const absent = (counts.missing ?? 0) + (counts.waiting ?? 0);
  const busy = (counts.running ?? 0) + (counts.queued ?? 0);
  const empty = data !== undefined && total === 0;
  return (
    <HStack wrap="wrap" gap={2} role="group" aria-label="Actions">
      {failed > 0 ? (
        <Button size="sm" colorPalette="brand" onClick={() => setAction("again")}>
          {total === 1 ? "Re-run…" : `Re-run failed (${number(failed)})`}
        </Button>
      ) : null}
      {missing > 0 && missing < total ? (
        <Button size="sm" variant="outline" colorPalette="brand" onClick={() => setAction("fill")}>
          Fill missing ({number(missing)})
        </Button>
      ) : null}
      {total === 1 && failed === 1 ? null : (
        <Button
          size="sm"
          variant={failed > 0 ? "outline" : "solid"}
          colorPalette="brand"
          disabled={empty || (data !== undefined && busy === data.total)}
          onClick={() => setAction("materialize")}
        >
          Materialize…
        </Button>
      )}
      <Button
        size="sm"
        variant="outline"
        title="Say that they are there, without a run; storage is not touched"
        disabled={empty}
        onClick={() => setAction("mark")}
      >
        Mark…
      </Button>
      <Button
        size="sm"
        variant="outline"
        title="Say that they are not there any more; storage is not touched, and nothing runs"
        disabled={empty || (data !== undefined && absent === data.total)}
        onClick={() => setAction("forget")}
      >
        Forget…
      </Button>
      {(["materialize", "again", "fill"] as const).map((each) => (
        <MaterializeDialog
          key={each}
          asset={asset}
          title={dialogs[each][0]}
          partitions={dialogs[each][1]}
          open={action === each}
          onClose={close}
        />
      ))}
      {(["mark", "forget"] as const).map((kind) => (
        <CorrectionDialog
          key={kind}
          asset={asset}
          kind={kind}
          partitions={{ selection, states }}
          open={action === kind}
          onClose={close}
        />
      ))}
    </HStack>
  );
};
