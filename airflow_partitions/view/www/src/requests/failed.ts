import { useQuery, useQueryClient, type QueryClient, type UseQueryResult } from "@tanstack/react-query";

import { Problem } from "../rest/problem";
import { client, rest } from "../rest/client";
import type { components } from "../rest/schema";
import { written } from "../selection/text";
import { pace } from "./request";

type Stretch = components["schemas"]["Stretch"];

/** Partitions of an asset; without a selection all of them. */
export type Selected = { readonly asset: string; readonly selection: string | null };

/** Failed partitions in one line. */
export type FailedLine = {
  /** Those that are named: all, or the first and the last. */
  readonly keys: readonly string[];
  readonly count: number;
};

/** Failed partitions, the newest first, and whether there may be others. */
export type Failed = { readonly lines: readonly FailedLine[]; readonly more: boolean };

/** The most partitions of a stretch that are all named. */
const FEW = 10;

/** So many stretches are read, and so many pages: one on which nothing failed is empty. */
const MOST = { stretches: 100, pages: 30 };

/** The text that selects a stretch; `null` where it has no other bounds than its keys. */
const stretchText = ({ start, end, segments }: Stretch): string | null => {
  const conditions = Object.entries(segments ?? {}).map(
    ([name, values]) => `${name} in ${values.map(written).join(",")}`,
  );
  return [...(start == null || end == null ? [] : [`${start}..${end}`]), ...conditions].join(" & ") || null;
};

type Read = { readonly stretches: readonly Stretch[]; readonly more: boolean };

const readStretches = async ({ asset, selection }: Selected, count: number, signal: AbortSignal): Promise<Read> => {
  const stretches: Stretch[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST.pages && stretches.length < MOST.stretches; page += 1) {
    const query = { select: selection, states: ["failed" as const], limit: MOST.stretches, cursor };
    const answered: { data?: components["schemas"]["StatePage"] } = await client.GET("/api/v1/assets/{asset}/states", {
      params: { path: { asset }, query },
      signal,
    });
    stretches.push(...(answered.data?.stretches ?? []));
    cursor = answered.data?.cursor ?? null;
    const told = stretches.reduce((total, stretch) => total + stretch.count, 0);
    if (cursor === null || told >= count) return { stretches, more: false };
  }
  return { stretches, more: true };
};

/** The keys of a stretch with few, in order; `undefined` where the server lists others. */
const readKeys = async (
  queries: QueryClient,
  { asset, selection }: Selected,
  stretch: Stretch,
  inOrder: boolean,
): Promise<readonly string[] | undefined> => {
  const { first, last, count } = stretch;
  if (count === 1) return [first];
  if (count === 2) return [first, last];
  const text = stretchText(stretch);
  if (count > FEW || (text === null && !inOrder)) return undefined;
  const query =
    text === null
      ? { select: selection, cursor: first, limit: count - 1 }
      : { select: text, oldest_first: true, limit: count };
  const asked = rest.queryOptions("get", "/api/v1/assets/{asset}/keys", { params: { path: { asset }, query } });
  const page = await queries.query({ ...asked, staleTime: Infinity }).catch(whereRefused);
  const keys = [...(text === null ? [first] : []), ...(page?.keys.map(({ key }) => key) ?? [])];
  return keys.length === count && keys.at(-1) === last ? keys : undefined;
};

/** What is not needed may be refused. */
const whereRefused = (error: unknown): undefined => {
  if (!(error instanceof Problem)) throw error;
};

/**
 * The failed partitions among some, as they are to be shown: all at once, so that nothing moves when more is known.
 *
 * @param count How many there are, at most; nothing is asked where there are none, or it is not known yet.
 * @param inOrder Whether the server lists the keys of the asset in the order of its partitions; `undefined` if that is
 *   not known yet.
 * @param atWork Whether others may come soon.
 */
export const useFailed = (
  of: Selected,
  count: number | undefined,
  { inOrder, atWork }: { readonly inOrder: boolean | undefined; readonly atWork: boolean },
): UseQueryResult<Failed> => {
  const queries = useQueryClient();
  return useQuery({
    queryKey: ["failed", of.asset, of.selection, count, inOrder] as const,
    queryFn: async ({ signal }): Promise<Failed> => {
      const { stretches, more } = await readStretches(of, count ?? 0, signal);
      const lines = stretches.map(async (stretch) => ({
        keys: (await readKeys(queries, of, stretch, inOrder ?? false)) ?? [stretch.first, stretch.last],
        count: stretch.count,
      }));
      return { lines: await Promise.all(lines), more };
    },
    enabled: count !== undefined && count > 0 && inOrder !== undefined,
    refetchInterval: pace(atWork) * 3, // it may take several questions
    placeholderData: (before: Failed | undefined, query) =>
      query?.queryKey[1] === of.asset && query.queryKey[2] === of.selection ? before : undefined,
  });
};
