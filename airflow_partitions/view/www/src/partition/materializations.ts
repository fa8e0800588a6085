import { rest } from "../rest/client";
import type { components } from "../rest/schema";

export type Materialization = components["schemas"]["Materialization"];

/** How many are asked for: those of a chart. */
const SHOWN = 50;

/** The newest partitions of an asset that were materialized, or of those that a text selects. */
export const useMaterializations = (asset: string, select?: string) =>
  rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/materializations",
    { params: { path: { asset }, query: { limit: SHOWN, select: select ?? null } } },
    { refetchInterval: 10_000 },
  );
