import { client } from "../rest/client";
import type { components } from "../rest/schema";
import { totalOf, type Counts } from "../states/state";

type Answered = components["schemas"]["Asset"];

/** An asset of the list: its numbers by state without the moment of the answer, so that it changes only if it has. */
export type Listed = Omit<Answered, "counts"> & {
  readonly counts: Counts;
  readonly total: number;
  /** Whether its numbers are still on their way. */
  readonly counting: boolean;
};

/** A tag that each Dag of a partitioned asset has by itself. */
export const OF_ALL = "partitioned";

const listed = ({ counts, tags, ...asset }: Answered, counting: boolean): Listed => {
  const numbers = counts?.counts ?? {};
  return { ...asset, tags: tags.filter((tag) => tag !== OF_ALL), counts: numbers, total: totalOf(numbers), counting };
};

/** What asks for all partitioned assets that one may see, without numbers of their partitions. */
export const namesQuery = {
  queryKey: ["assets", "names"] as const,
  queryFn: ({ signal }: { signal: AbortSignal }) => listAssets(false, signal),
};

/** All partitioned assets that one may see, by name; with numbers of their partitions by state if `counts`. */
export const listAssets = async (counts: boolean, signal: AbortSignal): Promise<readonly Listed[]> => {
  const assets: Listed[] = [];
  let cursor: string | null = null;
  do {
    const query: { limit: number; counts: boolean; cursor?: string } = { limit: 1000, counts };
    if (cursor !== null) query.cursor = cursor;
    const { data } = await client.GET("/api/v1/assets", { params: { query }, signal });
    if (data === undefined) break;
    assets.push(...data.assets.map((asset) => listed(asset, !counts)));
    cursor = data.cursor;
  } while (cursor !== null);
  return assets;
};
