import type { Materialization } from "./materializations";

/** What of the work on a partition is drawn. */
export const MEASURES = ["rows", "seconds", "bytes", "files", "read_rows", "read_bytes"] as const;
export type Measure = (typeof MEASURES)[number];

export type Bar = { readonly key: string; readonly value: number };

/** One bar for each partition that tells a measure; none where no partition does. */
export const barsOf = (materializations: readonly Materialization[], measure: Measure): Bar[] =>
  materializations.flatMap(({ key, [measure]: value }) => (value == null ? [] : [{ key, value }]));
