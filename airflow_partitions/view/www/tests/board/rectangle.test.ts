import { describe, expect, test } from "vitest";

import { linesOf, openedLines, type Board, type Line } from "../../src/board/board";
import { slotNear, stepped } from "../../src/board/keys";
import {
  between,
  fillOf,
  isRectangle,
  markText,
  partOf,
  rectangleCounts,
  rectangleTime,
  renewed,
  type Rectangle,
} from "../../src/board/rectangle";
import { spotAt } from "../../src/board/usePointer";
import { board, strip } from "./built";

/** Two assets by days, one whose only interval lasts from the first day until after the board, and one without time. */
const whole: Board = {
  ...board(
    strip("raw"),
    strip("keys", { scale: null, runs: [[1, 0]] }),
    strip("month", { scale: 1, runs: [[1, 1]] }),
    strip("clean", { may_change: false }),
    strip("product", { folded: "airport", rows: [{ value: "JFK", runs: [[3, 1]] }] }),
  ),
  scales: [
    ...board().scales,
    {
      timezone: "UTC",
      slots: [
        {
          first: "2013-02",
          last: "2013-02",
          count: 1,
          start: "2013-02-02T00:00:00+00:00",
          end: "2013-03-02T00:00:00+00:00",
          column: 1,
          columns: 2,
        },
      ],
    },
  ],
};
const lines = linesOf([whole]);
const opened = [...lines, ...openedLines({ ...whole, strips: whole.strips.slice(4) }, 0)];

const rectangle = (among: readonly Line[], one: [string, number], other: [string, number]): Rectangle => {
  const picked = between(whole, among, { row: one[0], column: one[1] }, { row: other[0], column: other[1] });
  if (picked === null || !isRectangle(picked)) throw new Error(`no rectangle: ${JSON.stringify(picked)}`);
  return picked;
};

const at = (day: string) => Date.parse(`${day}T00:00Z`);

describe("a rectangle", () => {
  test("is of the rows and of the time between two places, whichever comes first", () => {
    const picked = rectangle(lines, ["raw", 1], ["keys", 2]);
    expect(picked.lines.map(({ key }) => key)).toEqual(["raw", "keys"]);
    expect([picked.start, picked.end]).toEqual([at("2013-02-02"), at("2013-02-04")]);
    expect(rectangle(lines, ["keys", 2], ["raw", 1])).toEqual(picked);
    expect(rectangle(lines, ["raw", 2], ["keys", 1])).toEqual(picked);
  });

  test("holds the cells of both places from end to end", () => {
    const picked = rectangle(lines, ["month", 2], ["clean", 2]);
    expect([picked.start, picked.end]).toEqual([at("2013-02-02"), at("2013-02-04")]);
  });

  test("has of each row what begins in it", () => {
    const picked = rectangle(lines, ["raw", 2], ["clean", 2]);
    const parts = lines.map((line) => partOf(picked, line));
    expect(parts.map((part) => part && [part.from, part.until])).toEqual([[2, 2], null, null, [2, 2], null]);
    const earlier = rectangle(lines, ["raw", 0], ["clean", 1]);
    expect(partOf(earlier, lines[2] as Line)).toMatchObject({ from: 0, until: 0 });
  });

  test("counts no partition twice, and none without time", () => {
    expect(rectangleCounts(rectangle(lines, ["raw", 1], ["clean", 2]))).toEqual({ materialized: 2, failed: 3 });
    expect(rectangleCounts(rectangle(opened, ["product", 0], ["product JFK", 2]))).toEqual({
      materialized: 2,
      failed: 1,
    });
    expect(rectangleCounts(rectangle(opened, ["clean", 0], ["product JFK", 2]))).toEqual({
      materialized: 4,
      failed: 2,
    });
  });

  test("is filled where it has a time and one may change it; what is left out is told", () => {
    const { count, assets, leftOut } = fillOf(rectangle(lines, ["raw", 0], ["product", 0]));
    expect([count, assets]).toEqual([5, ["raw", "month", "product"]]);
    expect(leftOut).toEqual(["1 asset without time", "1 asset that you may not change"]);
    const twice = [...opened.slice(5), { ...(opened[5] as Line), key: "product EWR", value: "EWR" }];
    const segments = fillOf(rectangle(twice, ["product JFK", 0], ["product EWR", 0]));
    expect(segments).toEqual({
      count: 1,
      assets: [],
      leftOut: ["2 rows of one value, without the row of all"],
    });
    expect(fillOf(rectangle(opened, ["product", 0], ["product JFK", 0])).leftOut).toEqual([]);
  });

  test("says from when until when it is, and until now where that is not over", () => {
    const picked = rectangle(lines, ["raw", 0], ["keys", 1]);
    expect(rectangleTime(picked, whole)).toBe("2013-02-01 to 2013-02-03");
    expect(rectangleTime(picked, { ...whole, now: "2013-02-02T12:00:00Z" })).toBe("2013-02-01 to now");
    expect(markText(picked, whole)).toBe("2 assets, 2013-02-01 to 2013-02-03, 2 materialized, marked");
  });

  test("stays what it is in newer rows", () => {
    const picked = rectangle(lines, ["raw", 0], ["keys", 1]);
    const newer = linesOf([{ ...whole, strips: [strip("raw", { runs: [[3, 1]] })] }]);
    expect(rectangleCounts(renewed(picked, newer) as Rectangle)).toEqual({ failed: 2 });
  });
});

describe("in one row", () => {
  test("cells side by side are picked, also such that have begun before", () => {
    const one = between(whole, lines, { row: "raw", column: 2 }, { row: "raw", column: 0 });
    expect(one).toMatchObject({ from: 0, until: 2 });
    expect(one && markText(one, whole)).toBe("raw, 2013-02-01 to 2013-02-03, 1 failed, 2 materialized, marked");
    const month = between(whole, lines, { row: "month", column: 2 }, { row: "month", column: 2 });
    expect(month).toMatchObject({ from: 0, until: 0 });
  });

  test("all is picked where there is no time, and nothing where no cell is", () => {
    const keys = { row: "keys", column: 2 };
    expect(between(whole, lines, keys, keys)).toMatchObject({ from: 0, until: 0 });
    const before = { row: "month", column: 0 };
    expect(between(whole, lines, before, before)).toBeNull();
    expect(between(whole, lines, { row: "gone", column: 0 }, before)).toBeNull();
  });
});

test("arrows leave the column as it is in rows with longer cells, and in those without time", () => {
  const steps = [
    [0, 1],
    [0, 1],
    [0, 1],
  ] as const;
  let spot = { row: "raw", column: 2 };
  const places = steps.map(([cells, rows]) => {
    spot = stepped(lines, spot, cells, rows);
    return [spot.row, spot.column];
  });
  expect(places).toEqual([
    ["keys", 2],
    ["month", 2],
    ["clean", 2],
  ]);
  expect(stepped(lines, spot, -1, 0)).toEqual({ row: "clean", column: 1 });
  expect(stepped(lines, spot, -Infinity, 0)).toEqual({ row: "clean", column: 0 });
  expect(stepped(lines, { row: "month", column: 2 }, 1, 0)).toEqual({ row: "month", column: 1 });
  expect(stepped(lines, spot, 0, 10).row).toBe("product");
  expect(slotNear(lines[2] as Line, 0)).toBe(0);
});

test("a place on the screen is a row and a column, or those next to it", () => {
  const layout = { height: 28, width: 300, labels: 100, columns: 3, lines };
  expect(spotAt(layout, 100, 0)).toEqual({ row: "raw", column: 0 });
  expect(spotAt(layout, 399, 28 * 2)).toEqual({ row: "month", column: 2 });
  expect(spotAt(layout, -50, -50)).toEqual({ row: "raw", column: 0 });
  expect(spotAt(layout, 9_000, 9_000)).toEqual({ row: "product", column: 2 });
  expect(spotAt({ ...layout, lines: [] }, 0, 0)).toBeNull();
});
