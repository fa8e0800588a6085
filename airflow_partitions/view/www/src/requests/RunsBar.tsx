import { Box, Flex, Text } from "@chakra-ui/react";

import { number } from "../page/amounts";
import type { Request } from "./request";

/** Airflow's states of runs and ours of what has none: colour, and place from the left. */
const OUTCOMES: readonly (readonly [outcome: string, colour: string, words: string])[] = [
  ["success", "success.solid", "succeeded"],
  ["failed", "failed.solid", "failed"],
  ["running", "running.solid", "running"],
  ["queued", "queued.solid", "queued"],
];

type Part = { readonly outcome: string; readonly colour: string; readonly words: string; readonly runs: number };

/** The parts of a request: its runs by state, and the partitions that have no run yet. */
export const partsOf = ({ runs, partitions }: Pick<Request, "runs" | "partitions">): Part[] => {
  const usual = new Set(OUTCOMES.map(([outcome]) => outcome));
  const others = Object.keys(runs).filter((outcome) => !usual.has(outcome));
  const parts = [
    ...OUTCOMES.map(([outcome, colour, words]) => ({ outcome, colour, words, runs: runs[outcome] ?? 0 })),
    ...others.map((outcome) => ({ outcome, colour: "skipped.solid", words: outcome, runs: runs[outcome] ?? 0 })),
  ];
  const rest = partitions - parts.reduce((total, part) => total + part.runs, 0);
  return [
    ...parts,
    { outcome: "rest", colour: "bg.emphasized", words: "without a run yet", runs: Math.max(0, rest) },
  ].filter((part) => part.runs > 0);
};

/** "3 failed, 1,204 succeeded". */
export const partsText = (parts: readonly Part[]): string =>
  parts.map(({ runs, words }) => `${number(runs)} ${words}`).join(", ");

/** How far a request has come: a bar with its runs by state, and the same in words. */
export const RunsBar = ({ request, words = true }: { readonly request: Request; readonly words?: boolean }) => {
  const parts = partsOf(request);
  return (
    <Box minW={24}>
      <Flex height={2} borderRadius="full" overflow="hidden" role="img" aria-label={partsText(parts)} bg="bg.muted">
        {parts.map(({ outcome, colour, runs }) => (
          <Box key={outcome} bg={colour} flexGrow={runs} minW={0.5} />
        ))}
      </Flex>
      {words ? (
        <Text fontSize="xs" color="fg.muted" mt={1}>
          {partsText(parts)}
        </Text>
      ) : null}
    </Box>
  );
};
