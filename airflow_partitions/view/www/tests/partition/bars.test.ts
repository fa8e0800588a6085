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
  checks: [],
});

test("what is not told has no bar, and what is nothing has one", () => {
  const partitions = [made("a", 50), made("b", null), made("c", 0)];
  expect(barsOf(partitions, "rows")).toEqual([
    { key: "a", value: 50 },
    { key: "c", value: 0 },
  ]);
  expect(barsOf(partitions, "bytes")).toEqual([]);
});
