import { expect, test } from "vitest";

import type { Answer } from "../../src/grid/answer";
import { cellAt, columnAt, keyOf, pictureOf } from "../../src/grid/picture";

const answer: Answer = {
  asset: "flights",
  version: "1",
  now: "2013-01-04T00:00:00Z",
  timezone: "UTC",
  across: "date",
  down: "airport",
  start: "2013-01-01T00:00:00Z",
  end: "2013-01-04T00:00:00Z",
  unit: "interval",
  extent: null,
  columns: [1, 2, 3].map((day) => ({
    first: `2013-01-0${day}`,
    last: `2013-01-0${day}`,
    count: 1,
    start: `2013-01-0${day}T00:00:00Z`,
    end: `2013-01-0${day + 1}T00:00:00Z`,
  })),
  cells: [{ states: { materialized: 1 } }, { states: { failed: 1 } }, { states: {} }],
  rows: [
    {
      value: "JFK",
      runs: [
        [2, 0],
        [1, 2],
      ],
    },
    {
      value: "a|b\\c",
      runs: [
        [1, 1],
        [2, 0],
      ],
    },
  ],
  row_count: 2,
  row_cursor: null,
  counts: { materialized: 4, failed: 1 },
  total: 5,
  provisional: 0,
};

test("run lengths become cells, with the key of each partition", () => {
  const picture = pictureOf([answer]);
  if (picture === null) throw new Error("no picture");
  const at = (column: number, row: number) => cellAt(picture, { column, row });
  expect(at(0, 1)?.states).toEqual({ failed: 1 });
  expect(at(2, 0)?.total).toBe(0);
  expect(at(3, 0)).toBeNull();
  const failed = at(0, 1);
  expect(failed && keyOf(picture, failed, ["date", "airport"])).toBe("2013-01-01|a\\|b\\\\c");
  const open = at(2, 0);
  expect(open && keyOf(picture, open, ["date", "airport"])).toBeNull();
  expect(failed && keyOf(picture, failed, ["date", "airport", "carrier"])).toBeNull();
  expect(failed && keyOf(picture, failed, ["date", "carrier", "airport"], { carrier: "A" })).toBe(
    "2013-01-01|A|a\\|b\\\\c",
  );
});

test("columns are found by their place, and none between or beside them", () => {
  const columns = [
    { start: 0, end: 2 },
    { start: 2, end: 3 },
    { start: 5, end: 6 },
  ];
  expect([-1, 0, 1.5, 2, 3, 5, 6].map((at) => columnAt(columns, at))).toEqual([-1, 0, 0, 1, -1, 2, -1]);
});

test("rows of the next page join those of the first", () => {
  const next = { ...answer, rows: [{ value: "LGA", runs: [[3, 1]] }] };
  const picture = pictureOf([answer, next]);
  expect(picture?.rows.map(({ value }) => value)).toEqual(["JFK", "a|b\\c", "LGA"]);
  expect(picture && cellAt(picture, { column: 0, row: 2 })?.states).toEqual({ failed: 1 });
});
