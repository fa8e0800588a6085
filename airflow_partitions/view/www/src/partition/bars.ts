import type { components } from "../rest/schema";

type Materialisation = components["schemas"]["Materialisation"];

/** What of the work on a partition is drawn. */
export const MEASURES = ["rows", "files", "bytes", "seconds", "read_rows", "read_bytes"] as const;
export type Measure = (typeof MEASURES)[number];

export type Bar = { readonly key: string; readonly value: number };

/** One bar for each partition that tells a measure; none where no partition does. */
export const barsOf = (materialisations: readonly Materialisation[], measure: Measure): Bar[] =>
  materialisations.flatMap(({ key, [measure]: value }) => (value == null ? [] : [{ key, value }]));
