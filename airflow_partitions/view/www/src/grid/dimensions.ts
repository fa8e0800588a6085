import type { components } from "../rest/schema";

/** What of an asset's partitions is dimension of what. */
export type Dimensions = {
  readonly names: readonly string[];
  readonly time: string | null;
  readonly zone: string | null;
  /** Whether only runs know the keys. */
  readonly open: boolean;
};

export const dimensionsOf = ({ dimensions, timezone, kind }: components["schemas"]["Definition"]): Dimensions => ({
  names: dimensions.map(({ name }) => name),
  time: dimensions.find((dimension) => dimension.kind === "interval")?.name ?? null,
  zone: timezone,
  open: kind === "runtime",
});
