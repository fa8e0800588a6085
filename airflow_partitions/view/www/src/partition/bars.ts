import type { components } from "../rest/schema";

type Materialisation = components["schemas"]["Materialisation"];

/** What of the work on a partition is drawn. */
export const MEASURES = ["rows", "files", "bytes", "seconds", "read_rows", "read_bytes"] as const;
export type Measure = (typeof MEASURES)[number];

export type Bar = {
  readonly key: string;
  readonly value: number;
  /** Height, as part of the greatest. */
  readonly share: number;
};

/** One bar for each partition that tells a measure; none where no partition does. */
export const barsOf = (materialisations: readonly Materialisation[], measure: Measure): Bar[] => {
  const values = materialisations.flatMap((each) => {
    const value = each[measure];
    return value == null ? [] : [{ key: each.key, value }];
  });
  const greatest = Math.max(0, ...values.map(({ value }) => value));
  return values.map((each) => ({ ...each, share: greatest === 0 ? 0 : each.value / greatest }));
};
