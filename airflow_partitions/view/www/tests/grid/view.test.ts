import { expect, test } from "vitest";

import { lengthOf, moved, newest, tileOf, within, zoomed } from "../../src/grid/view";

const bounds = { start: 0, end: 1000, least: 10 };

test("what is under the pointer stays there while one zooms", () => {
  const view = zoomed({ start: 400, end: 600 }, 0.5, 450, bounds);
  expect(view).toEqual({ start: 425, end: 525 });
});

test("a view stays within its bounds", () => {
  expect(zoomed({ start: 900, end: 1000 }, 100, 950, bounds)).toEqual({ start: 0, end: 1000 });
  expect(lengthOf(zoomed({ start: 900, end: 1000 }, 0.001, 950, bounds))).toBe(10);
  expect(moved({ start: 0, end: 100 }, -50, bounds)).toEqual({ start: 0, end: 100 });
  expect(moved({ start: 0, end: 100 }, 5000, bounds)).toEqual({ start: 900, end: 1000 });
  expect(newest(bounds, 50)).toEqual({ start: 950, end: 1000 });
});

test("less than the shortest view is there: it begins at the first", () => {
  expect(within({ start: 0, end: 4 }, { start: 0, end: 4, least: 20 })).toEqual({ start: 0, end: 20 });
});

test("views near each other ask for the same", () => {
  const wide = { start: 0, end: 100_000 };
  const tile = tileOf({ start: 40_000, end: 41_000 }, wide);
  expect(tile).toEqual({ start: 39_936, end: 41_984, level: 1024 });
  expect(tileOf({ start: 40_050, end: 41_050 }, wide)).toEqual(tile);
  for (let start = 0; start < 98_000; start += 777) {
    const part = tileOf({ start, end: start + 1500 }, wide);
    expect(part.start).toBeLessThanOrEqual(start);
    expect(part.end).toBeGreaterThanOrEqual(start + 1500);
    expect(lengthOf(part)).toBeLessThanOrEqual(6000);
  }
});
