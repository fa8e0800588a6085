import type { State } from "../states/state";
import { keyList } from "./keyList";

/** Partitions of an asset: those that a text names, and of them those in some states. */
export type Partitions = {
  /** Text such as `2013-03-01..2013-03-10 & origin in JFK,LGA`, or a list of keys, one a line; all if left out. */
  readonly selection?: string;
  /** Only those in one of these states; in any if left out or empty. */
  readonly states?: readonly State[];
};

/** Some assets, and a stretch of time by its bounds in ISO 8601; `null` is now. */
export type Stretch = { readonly assets: readonly string[]; readonly since: string; readonly until: string | null };

/** The states among which one chooses what to make, the most usual first. */
export const CHOICES: readonly State[] = ["missing", "failed", "stale", "skipped", "waiting", "materialized"];

/** What the REST takes for the partitions that a text names; nothing for an empty one. */
export const asSelected = (selection: string): { select?: string; keys?: string[] } => {
  const list = keyList(selection);
  if (list !== null) return { keys: [...list.keys] };
  const text = selection.trim();
  return text === "" ? {} : { select: text };
};

/** What the REST takes for partitions; at least one of both is said. */
export const asQuery = ({
  selection = "",
  states = [],
}: Partitions): { select?: string; keys?: string[]; states?: State[] } => {
  const selected = asSelected(selection);
  const some = Object.keys(selected).length > 0 || states.length > 0;
  return { ...(some ? selected : { select: "all" }), ...(states.length > 0 ? { states: [...states] } : {}) };
};
