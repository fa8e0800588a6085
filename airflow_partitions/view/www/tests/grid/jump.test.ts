import { expect, test } from "vitest";

import { jumped } from "../../src/grid/jump";
import type { Picture } from "../../src/grid/picture";

/** Ten columns, each ten long; the second and the eighth have one that failed. */
const picture: Picture = {
  across: "date",
  down: null,
  timezone: "UTC",
  unit: "day",
  columns: Array.from({ length: 10 }, (_, i) => ({
    first: null,
    last: null,
    count: 4,
    start: i * 10,
    end: i * 10 + 10,
  })),
  rows: [{ value: null, cells: Uint32Array.of(0, 1, 0, 0, 0, 0, 0, 1, 0, 0) }],
  cells: [{ states: { materialized: 4 } }, { states: { materialized: 3, failed: 1 } }],
  rowCount: 1,
};
const bounds = { start: 0, end: 100, least: 4 };
const failed = new Set(["failed"] as const);

test("the view goes to the nearest column with such a partition, and keeps its length", () => {
  expect(jumped(picture, failed, { start: 40, end: 60 }, bounds, "before")).toEqual({ start: 5, end: 25 });
  expect(jumped(picture, failed, { start: 40, end: 60 }, bounds, "after")).toEqual({ start: 65, end: 85 });
});

test("from one such column it goes on to the next, not to the same", () => {
  expect(jumped(picture, failed, { start: 65, end: 85 }, bounds, "before")).toEqual({ start: 5, end: 25 });
  expect(jumped(picture, failed, { start: 65, end: 85 }, bounds, "after")).toBeNull();
});

test("a view shorter than the column becomes as long as it", () => {
  expect(jumped(picture, failed, { start: 40, end: 44 }, bounds, "before")).toEqual({ start: 10, end: 20 });
});

test("of another state there is nothing to go to", () => {
  expect(jumped(picture, new Set(["stale"] as const), { start: 40, end: 60 }, bounds, "before")).toBeNull();
});
