import { useInfiniteQuery, type InfiniteData } from "@tanstack/react-query";
import { useEffect } from "react";

import type { Stretch } from "../actions/partitions";
import type { CellCounts } from "../grid/answer";
import type { PlacedColumn } from "../grid/picture";
import { LIVE } from "../page/queries";
import { client } from "../rest/client";
import type { components } from "../rest/schema";
import { summed, totalOf, type Counts } from "../states/state";

type Answered = components["schemas"];

/** Cells side by side that are the same: their number, and place in the list of cells. */
type Runs = readonly (readonly number[])[];

/** An asset of the board. */
export type Strip = Omit<Answered["Strip"], "runs" | "rows"> & {
  readonly runs: Runs;
  readonly rows: readonly { readonly value: string | null; readonly runs: Runs }[];
};

/** What the server answers for all assets over a period. */
export type Board = Omit<Answered["Board"], "strips" | "cells"> & {
  readonly strips: readonly Strip[];
  readonly cells: readonly CellCounts[];
};

/** How long a board is, in days, with the most columns: six hours in a month, a day in a year. */
export const lengths = { 7: 170, 30: 124, 90: 92, 365: 367 } as const;
export type Days = keyof typeof lengths;

/** So many days until a moment, or until now. */
export type Period = { readonly days: Days; readonly until: string | null };

/** How many assets are asked for at once: first as many as fill a screen, then the others. */
const FIRST = 50;
const PAGE = 250;

/** A stretch that is so many days long and ends then. */
const boundsOf = ({ days, until }: Period) =>
  until === null
    ? { since: `${String(days)}d` }
    : { since: new Date(Date.parse(until) - days * 86_400_000).toISOString(), until };

const askFor = async (
  period: Period,
  some: { asset?: string[]; opened?: boolean },
  cursor: string | null,
  signal: AbortSignal,
) => {
  const { data } = await client.GET("/api/v1/board", {
    params: {
      query: {
        ...boundsOf(period),
        ...some,
        columns: lengths[period.days],
        limit: cursor === null ? FIRST : PAGE,
        ...(cursor !== null && { cursor }),
      },
    },
    signal,
  });
  if (data === undefined) throw new Error("The server answered nothing.");
  return data;
};

/** What asks for all assets over a period, page after page. */
export const boardQuery = (period: Period) => ({
  queryKey: ["board", period.days, period.until] as const,
  queryFn: ({ signal, pageParam }: { signal: AbortSignal; pageParam: string | null }): Promise<Board> =>
    askFor(period, {}, pageParam, signal),
  initialPageParam: null as string | null,
  getNextPageParam: ({ cursor }: Board) => cursor,
});

/** All assets over a period: page after page, and again every few seconds. */
export const useBoard = (period: Period) => {
  const board = useInfiniteQuery({
    ...boardQuery(period),
    refetchInterval: LIVE * 3,
    placeholderData: (before: InfiniteData<Board, string | null> | undefined) => before,
  });
  const { hasNextPage, isFetching, fetchNextPage } = board;
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  return board;
};

/** What asks for an asset with the rows of what is folded. */
export const openedQuery = (period: Period, asset: string) => ({
  queryKey: ["board", period.days, period.until, asset] as const,
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<Board> =>
    askFor(period, { asset: [asset], opened: true }, null, signal),
  refetchInterval: LIVE * 3,
});

/** Intervals side by side, and where along the columns they are. */
export type Slot = PlacedColumn & { readonly column: number; readonly columns: number; readonly span: string };

/** A row of the board: an asset, or one of the rows that are folded in it. */
export type Line = {
  readonly key: string;
  readonly strip: Strip;
  readonly value: string | null;
  /** `null` without time: then there is one cell for all. */
  readonly slots: readonly Slot[] | null;
  readonly cells: readonly CellCounts[];
  /** How many assets are upstream of it, one after the other. */
  readonly level: number;
};

const slotsOf = ({ scales }: Board): readonly (readonly Slot[])[] =>
  scales.map(({ slots }) =>
    slots.map((slot) => ({
      ...slot,
      span: `${slot.start ?? ""}..${slot.end ?? ""}`,
      start: Date.parse(slot.start ?? ""),
      end: Date.parse(slot.end ?? ""),
    })),
  );

const unrolled = ({ cells }: Board, runs: Runs): readonly CellCounts[] =>
  runs.flatMap(([length = 0, cell = 0]) => Array<CellCounts>(length).fill(cells[cell] ?? { states: {} }));

/** The rows of the pages of a board, each asset below what it is made of. */
export const linesOf = (pages: readonly Board[]): readonly Line[] => {
  const levels = new Map<string, number>();
  return pages.flatMap((page) => {
    const scales = slotsOf(page);
    return page.strips.map((strip): Line => {
      const level = Math.max(-1, ...strip.upstream.map((name) => levels.get(name) ?? -1)) + 1;
      levels.set(strip.asset, level);
      return {
        key: strip.asset,
        strip,
        value: null,
        slots: strip.scale === null ? null : (scales[strip.scale] ?? []),
        cells: unrolled(page, strip.runs),
        level,
      };
    });
  });
};

/** The rows that are folded in an asset, of an answer for it alone. */
export const openedLines = (page: Board, level: number): readonly Line[] => {
  const [strip] = page.strips;
  if (strip === undefined) return [];
  const slots = strip.scale === null ? null : (slotsOf(page)[strip.scale] ?? []);
  return strip.rows.map(({ value, runs }) => ({
    key: `${strip.asset} ${value ?? ""}`,
    strip,
    value,
    slots,
    cells: unrolled(page, runs),
    level,
  }));
};

/** Slots side by side of a row. */
export type Pick = { readonly line: Line; readonly from: number; readonly until: number };

/** What was picked is called: from its first key to its last, and the value of its row. */
export const pickTitle = ({ line: { slots, value }, from, until }: Pick): string => {
  const [first, last] = [slots?.[from]?.first ?? null, slots?.[until]?.last ?? null];
  const span = first === null || last === null ? null : first === last ? first : `${first} to ${last}`;
  return [span, value].filter((text) => text !== null).join(" | ") || "all partitions";
};

/** The text that selects what was picked; "all" where that is all of an asset without time. */
export const pickText = ({ line, from, until }: Pick, written: (value: string) => string): string => {
  const { slots, strip, value } = line;
  const start = slots?.[from]?.span.split("..")[0];
  const end = slots?.[until]?.span.split("..")[1];
  const parts = [
    ...(start === undefined || end === undefined ? [] : [`${start}..${end}`]),
    ...(value === null || strip.folded === null ? [] : [`${strip.folded} in ${written(value)}`]),
  ];
  return parts.join(" & ") || "all";
};

/** Numbers of the partitions of what was picked, by state. */
export const pickCounts = ({ line, from, until }: Pick): Counts =>
  summed(line.cells.slice(from, until + 1).map(({ states }) => states));

/** The key of the only partition of a pick where the slot says it; else `undefined`. */
export const pickKey = (pick: Pick): string | undefined => {
  const slot = pick.line.slots?.[pick.from];
  return pick.from === pick.until &&
    pick.line.strip.folded === null &&
    slot?.count === 1 &&
    totalOf(pickCounts(pick)) === 1
    ? (slot.first ?? undefined)
    : undefined;
};

/** A stretch of time of some assets, by its bounds in milliseconds; what is to come is left out. */
export const stretchOf = (assets: readonly string[], start: number, end: number, { now }: Board): Stretch => ({
  assets,
  since: new Date(start).toISOString(),
  until: end >= Date.parse(now) ? null : new Date(end).toISOString(),
});
