import type { State } from "../states/state";

/** Partitions of an asset: those that a selection's text names, and of them those in some states. */
export type Partitions = {
  /** Text such as `2013-03-01..2013-03-10 & origin in JFK,LGA`; all if left out. */
  readonly selection?: string;
  /** Only those in one of these states; in any if left out or empty. */
  readonly states?: readonly State[];
};

/** The states among which one chooses what to make, the most usual first. */
export const CHOICES: readonly State[] = ["missing", "failed", "stale", "skipped", "waiting", "materialized"];

/** What the REST takes for partitions; at least one of both is said. */
export const asQuery = ({ selection = "", states = [] }: Partitions): { select?: string; states?: State[] } => {
  const text = selection.trim();
  return {
    ...(text !== "" || states.length === 0 ? { select: text === "" ? "all" : text } : {}),
    ...(states.length > 0 ? { states: [...states] } : {}),
  };
};
