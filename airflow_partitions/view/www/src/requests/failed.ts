import { useQuery, useQueryClient, type QueryClient, type UseQueryResult } from "@tanstack/react-query";

import { number } from "../page/amounts";
import { Problem } from "../rest/problem";
import { client, rest } from "../rest/client";
import type { components } from "../rest/schema";
import { written } from "../selection/text";
import { pace } from "./request";

type Stretch = components["schemas"]["Stretch"];
type Run = components["schemas"]["Run"];

/** Partitions of an asset; without a selection all of them. */
export type Selected = { readonly asset: string; readonly selection: string | null };

/** Failed partitions in one line. */
export type FailedLine = {
  /** Those that are named: all, or the first and the last. */
  readonly keys: readonly string[];
  readonly count: number;
  /** What made them fail, and of which it is told where not of all; `null` where it is not told. */
  readonly cause: { readonly text: string; readonly of: string | null } | null;
};

/** Failed partitions, the newest first, and whether there may be others. */
export type Failed = { readonly lines: readonly FailedLine[]; readonly more: boolean };

/** The most partitions of a stretch that are all named. */
const FEW = 10;

/** Of so many partitions, the newest, it is told what made them fail. */
const CAUSES = 10;

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

/** What made a run fail: "task days failed after 3 tries: ValueError: no rows". */
const causeOf = ({ failed, tries, error }: Run): string => {
  const what = error ?? "no cause was noted";
  if (failed.length === 0) return what;
  const after = tries > 1 ? ` after ${number(tries)} tries` : "";
  return `task ${failed.join(", ")} failed${after}: ${what}`;
};

/** What made the last failed run of a partition fail; `null` where it has none. */
const readCause = async (queries: QueryClient, asset: string, key: string): Promise<string | null> => {
  const of = { params: { path: { asset, key } } };
  const asked = rest.queryOptions("get", "/api/v1/assets/{asset}/partitions/{key}", of);
  try {
    const { runs } = await queries.query({ ...asked, staleTime: 30_000 });
    const run = runs.find(({ state }) => state === "failed");
    return run === undefined ? null : causeOf(run);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return `what made it fail can’t be told: ${error.message}`;
  }
};

/** Lines of partitions side by side with the same cause. */
const linesOf = (keys: readonly string[], causes: ReadonlyMap<string, string | null>): FailedLine[] => {
  const lines: FailedLine[] = [];
  for (const key of keys) {
    const text = causes.get(key) ?? null;
    const before = lines.at(-1);
    if (before !== undefined && (before.cause?.text ?? null) === text) {
      lines[lines.length - 1] = { ...before, keys: [...before.keys, key], count: before.count + 1 };
    } else {
      lines.push({ keys: [key], count: 1, cause: text === null ? null : { text, of: null } });
    }
  }
  return lines;
};

/** The lines of stretches, with the causes of the newest partitions. */
const readLines = async (queries: QueryClient, of: Selected, stretches: readonly Stretch[], inOrder: boolean) => {
  const named = await Promise.all(stretches.map((stretch) => readKeys(queries, of, stretch, inOrder)));
  let left = CAUSES;
  const told = named.map((keys, place) => {
    const some = keys !== undefined && keys.length <= left ? keys : [stretches[place]?.last ?? ""].slice(0, left);
    left -= some.length;
    return some;
  });
  const causes = new Map<string, string | null>();
  await Promise.all(told.flat().map(async (key) => causes.set(key, await readCause(queries, of.asset, key))));
  return stretches.flatMap(({ first, last, count }, place) => {
    const keys = named[place];
    if (keys !== undefined && keys.length === told[place]?.length) return linesOf(keys, causes);
    const text = causes.get(last) ?? null;
    return [{ keys: keys ?? [first, last], count, cause: text === null ? null : { text, of: last } }];
  });
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
      return { lines: await readLines(queries, of, stretches, inOrder ?? false), more };
    },
    enabled: count !== undefined && count > 0 && inOrder !== undefined,
    refetchInterval: pace(atWork) * 3, // it may take several questions
    placeholderData: (before: Failed | undefined, query) =>
      query?.queryKey[1] === of.asset && query.queryKey[2] === of.selection ? before : undefined,
  });
};
