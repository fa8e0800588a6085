import type { Board, Strip } from "../../src/board/board";

/** An asset of three days, the last of which has failed. */
export const strip = (asset: string, changed: Partial<Strip> = {}): Strip => ({
  asset,
  group: "asset",
  tags: ["partitioned"],
  owners: [],
  producers: [asset],
  upstream: [],
  paused: [],
  absent: [],
  may_change: true,
  folded: null,
  scale: 0,
  runs: [
    [2, 0],
    [1, 1],
  ],
  counts: { materialized: 2, failed: 1 },
  total: 3,
  rows: [],
  row_count: 0,
  error: null,
  ...changed,
});

/** A day of February, one a column. */
const day = (number: number) => ({
  first: `2013-02-0${String(number)}`,
  last: `2013-02-0${String(number)}`,
  count: 1,
  start: `2013-02-0${String(number)}T00:00:00+00:00`,
  end: `2013-02-0${String(number + 1)}T00:00:00+00:00`,
  column: number - 1,
  columns: 1,
});

/** A board of three days, which are over. */
export const board = (...strips: Strip[]): Board => ({
  now: "2013-03-01T00:00:00+00:00",
  timezone: "UTC",
  unit: "day",
  columns: [1, 2, 3].map((number) => ({ start: day(number).start, end: day(number).end })),
  scales: [{ timezone: "UTC", slots: [1, 2, 3].map(day) }],
  cells: [{ states: { materialized: 1 } }, { states: { failed: 1 } }],
  strips,
  hidden: 0,
  cursor: null,
});
