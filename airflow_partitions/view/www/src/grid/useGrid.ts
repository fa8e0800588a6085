import { useInfiniteQuery, useQueryClient, type InfiniteData, type QueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { LIVE } from "../page/queries";
import { client } from "../rest/client";
import type { Answer } from "./answer";
import { lengthOf, tileOf, type Span } from "./view";

/** Which partitions of an asset to show, and how. */
export type Arrangement = {
  readonly asset: string;
  /** Names of dimensions; "" for none, `undefined` for what the server takes. */
  readonly across?: string;
  readonly down?: string;
  /** Text that narrows it to some partitions: those of `only`. */
  readonly select?: string;
  /** Of dimensions that are neither, the only value to show. */
  readonly only?: Readonly<Record<string, string>>;
  /** Part of the names of rows. */
  readonly search?: string;
};

/** An arrangement, with the part of the time axis; all of it where none is named. */
export type Part = Arrangement & { readonly columns: number; readonly rowLimit: number } & Partial<Span>;

/** What of a part the server is asked for. */
export const askedOf = (part: Omit<Part, "asset">, rowCursor: string | null) => ({
  columns: part.columns,
  row_limit: part.rowLimit,
  ...(part.start !== undefined && { start: new Date(part.start).toISOString() }),
  ...(part.end !== undefined && { end: new Date(part.end).toISOString() }),
  ...(part.across !== undefined && { across: part.across }),
  ...(part.down !== undefined && { down: part.down }),
  ...(part.select && { select: part.select }),
  ...(part.search && { search: part.search }),
  ...(rowCursor !== null && { row_cursor: rowCursor }),
});

const queryOf = ({ asset, ...part }: Part) => ({
  queryKey: ["grid", asset, part] as const,
  queryFn: async ({ signal, pageParam }: { signal: AbortSignal; pageParam: string | null }): Promise<Answer> => {
    const { data } = await client.GET("/api/v1/assets/{asset}/grid", {
      params: { path: { asset }, query: askedOf(part, pageParam) },
      signal,
    });
    if (data === undefined) throw new Error("The server answered nothing.");
    return data;
  },
  initialPageParam: null as string | null,
  getNextPageParam: ({ row_cursor }: Answer) => row_cursor,
});

/** What the server answers for a part, as it is now. */
export const usePart = (part: Part, enabled = true) =>
  useInfiniteQuery({
    ...queryOf(part),
    enabled,
    refetchInterval: LIVE,
    // What was there stays, stretched to where it belongs, until the new is there.
    placeholderData: (before: InfiniteData<Answer, string | null> | undefined, query) => {
      const [, asset, shown] = query?.queryKey ?? [];
      return asset === part.asset && shown?.across === part.across && shown?.down === part.down ? before : undefined;
    },
  });

/** All of the time axis in one row. */
const wholeOf = ({ asset, select }: Pick<Arrangement, "asset" | "select">): Part => ({
  asset,
  ...(select && { select }),
  columns: 300,
  rowLimit: 1,
  down: "",
});

/** All of the time axis in one row, with what is in it. */
export const useWhole = (arrangement: Arrangement) => usePart(wholeOf(arrangement));

/** Asks for all of an asset before it is shown; what fails is asked for again there. */
export const askForWhole = (queries: QueryClient, asset: string): void => {
  queries.infiniteQuery(queryOf(wholeOf({ asset }))).catch(() => undefined);
};

/** What a view shows: asked for in tiles, so that what is near is there already. */
export const useGrid = (
  arrangement: Arrangement,
  view: Span | null,
  bounds: Span | null,
  width: number,
  ready: boolean,
) => {
  const queries = useQueryClient();
  const part = (one: Tile | null): Part => ({ ...arrangement, ...partOf(one, width) });
  const tile = view && bounds ? tileOf(view, bounds) : null;
  const grid = usePart(part(tile), ready);
  const settled = !grid.isFetching && grid.isSuccess;
  const nearer = view && bounds && tile && tileOf(middleOf(view), bounds);
  const next = JSON.stringify(nearer);
  useEffect(() => {
    if (settled && nearer) queries.infiniteQuery(queryOf(part(nearer))).catch(() => undefined);
    // The text says all that the part is made of, and does not change with each picture.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [settled, next]);
  return grid;
};

type Tile = Span & { readonly level: number };

/** The part of the time axis that is asked for, in columns that one can tell apart; `null` where it is no time. */
export const partOf = (tile: Tile | null, width: number) => ({
  rowLimit: 200,
  columns: tile === null ? 1000 : Math.max(1, Math.min(2000, Math.ceil((lengthOf(tile) / tile.level) * steady(width)))),
  ...(tile !== null && { start: tile.start, end: tile.end }),
});

/** How many columns a level has: the same for widths that are nearly the same. */
const steady = (width: number): number => Math.ceil(width / 6 / 40) * 40;

const middleOf = ({ start, end }: Span): Span => {
  const quarter = (end - start) / 4;
  return { start: start + quarter, end: end - quarter };
};
