import { expect, test } from "vitest";

import { pictureOf } from "../../src/grid/picture";
import type { components } from "../../src/rest/schema";
import { layerOf, layerText, levelOf, opacityOf } from "../../src/values/layer";
import { valueText } from "../../src/values/value";

const column = (day: number) => ({
  first: `2013-01-0${day}`,
  last: `2013-01-0${day}`,
  count: 1,
  start: `2013-01-0${day}T00:00:00Z`,
  end: `2013-01-0${day + 1}T00:00:00Z`,
});

const picture = pictureOf([
  {
    asset: "days",
    version: "",
    now: "",
    timezone: "UTC",
    across: "date",
    down: "airport",
    start: null,
    end: null,
    unit: "interval",
    extent: null,
    columns: [2, 3, 4].map(column),
    cells: [{ states: { materialized: 1 } }],
    rows: ["EWR", "JFK"].map((value) => ({ value, runs: [[3, 0]] })),
    row_count: 2,
    row_cursor: null,
    counts: {},
    total: 6,
    provisional: 0,
  },
]);

const values = (of: Partial<components["schemas"]["CellValues"]> = {}): components["schemas"]["CellValues"] => ({
  asset: "days",
  version: "",
  now: "",
  timezone: "UTC",
  value: "rows",
  measure: "number",
  of_several: "mean",
  across: "date",
  down: "airport",
  start: null,
  end: null,
  unit: "interval",
  columns: [1, 2, 3].map(column),
  rows: [{ value: "EWR", values: [5, 7, null] }],
  row_count: 2,
  row_cursor: null,
  line: [5, 7, null],
  line_told: [1, 1, 0],
  least: 5,
  low: 6,
  high: 8,
  most: 1e12,
  told: 2,
  untold: 1,
  ...of,
});

const layerFor = (...answers: components["schemas"]["CellValues"][]) => {
  if (picture === null) throw new Error("no picture");
  const layer = layerOf(answers, picture);
  if (layer === null) throw new Error("no layer");
  return layer;
};

test("values stand in the cells of the same columns, whichever of them were asked for", () => {
  const layer = layerFor(values());
  expect([0, 1, 2].map((i) => layer.at(i, 0))).toEqual([7, null, null]);
  expect(layer.at(0, 1)).toBeNull();
  expect(layer.line).toEqual([7, null, null]);
  expect(layer.lineTold).toEqual([1, 0, 0]);
});

test("rows come in pages", () => {
  const layer = layerFor(values(), values({ rows: [{ value: "JFK", values: [1, 2, 3] }] }));
  expect([0, 1].map((row) => layer.at(0, row))).toEqual([7, 2]);
});

test("what is outside of the scale says so, and the least is seen", () => {
  const layer = layerFor(values());
  expect(layerText(layer, 1e12, false)).toBe("Rows written: 1,000,000,000,000 (among the largest 1 %)");
  expect(layerText(layer, 5, true)).toBe("Rows written: 5 (mean, among the smallest 1 %)");
  expect(layerText(layer, 7, false)).toBe("Rows written: 7");
  expect(layerText(layer, null, false)).toBe("Rows written: not told");
  const scale = { least: 5, low: 6, high: 8, most: 1e12 };
  expect(levelOf(scale, 7)).toEqual({ share: 0.5, outside: null });
  expect(levelOf(scale, 1e12)).toEqual({ share: 1, outside: "above" });
  expect(opacityOf(levelOf(scale, 6))).toBeGreaterThan(0);
  expect(levelOf({ least: 7, low: 7, high: 7, most: 7 }, 7)).toEqual({ share: 0.5, outside: null });
});

test("where nothing is told there is no scale", () => {
  const layer = layerFor(values({ least: null, low: null, high: null, most: null }));
  expect(layer.scale).toBeNull();
  expect(layerText(layer, null, false)).toBe("Rows written: not told");
});

test("numbers are read in what they are measured in", () => {
  expect([valueText("bytes", 1_500), valueText("seconds", 200), valueText("number", 12_345.67)]).toEqual([
    "1.5 kB",
    "3 min 20 s",
    "12,345.7",
  ]);
});
