import { expect, test } from "vitest";

import { openingView } from "../../src/grid/opening";
import type { Picture } from "../../src/grid/picture";

const BOUNDS = { start: 0, end: 1000, least: 10 };

/** A hundred columns of ten, of which some have something. */
const picture = (...something: readonly number[]): Picture => ({
  across: "date",
  down: null,
  timezone: "UTC",
  unit: "interval",
  columns: Array.from({ length: 100 }, (_, i) => ({
    first: null,
    last: null,
    count: 10,
    start: i * 10,
    end: (i + 1) * 10,
  })),
  rows: [{ value: null, cells: Uint32Array.from({ length: 100 }, (_, i) => (something.includes(i) ? 1 : 0)) }],
  cells: [{ states: { missing: 10 } }, { states: { missing: 9, materialized: 1 } }],
  rowCount: 1,
});

test("it opens at the newest where something is there, or nothing anywhere", () => {
  expect(openingView(picture(95), null, BOUNDS, 80)).toBeNull();
  expect(openingView(picture(), null, BOUNDS, 80)).toBeNull();
});

test("it opens where something is, not at the newest missing ones", () => {
  expect(openingView(picture(0, 2), null, BOUNDS, 80)).toEqual({ start: 0, end: 80 });
  expect(openingView(picture(50), null, BOUNDS, 80)).toEqual({ start: 430, end: 510 });
  expect(openingView(picture(50), null, BOUNDS, 4)).toEqual({ start: 500, end: 510 });
});

test("it opens at what is asked for", () => {
  expect(openingView(picture(95), { start: 200, end: 230 }, BOUNDS, 80)).toEqual({ start: 200, end: 280 });
  expect(openingView(picture(50), { start: 990, end: 1000 }, BOUNDS, 80)).toBeNull();
});
