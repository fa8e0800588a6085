import { expect, test } from "vitest";

import { barsOf } from "../../src/partition/bars";

const made = (key: string, rows: number | null) => ({
  key,
  rows,
  start: null,
  end: null,
  at: "2026-11-22T20:00:00+00:00",
  dag_id: null,
  run_id: null,
});

test("bars are as high as their part of the greatest; what is not told has none", () => {
  expect(barsOf([made("a", 50), made("b", null), made("c", 200)], "rows")).toEqual([
    { key: "a", value: 50, share: 0.25 },
    { key: "c", value: 200, share: 1 },
  ]);
});

test("where all are empty, all bars are", () => {
  expect(barsOf([made("a", 0)], "rows")).toEqual([{ key: "a", value: 0, share: 0 }]);
  expect(barsOf([made("a", 1)], "bytes")).toEqual([]);
});
