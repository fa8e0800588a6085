import { expect, test } from "vitest";

import { linesOf, openedLines, pickCounts, pickKey, pickText, stretchOf } from "../../src/board/board";
import { columnAtX, slotX } from "../../src/board/drawStrip";
import { NONE, shownStrips } from "../../src/board/filters";
import { slotAt } from "../../src/board/rectangle";
import { written } from "../../src/selection/text";
import { board, strip } from "./built";

test("each asset is a row of cells, as deep as what it is made of", () => {
  const lines = linesOf([
    board(strip("raw"), strip("clean", { upstream: ["raw"] })),
    board(strip("report", { upstream: ["clean"] })),
  ]);
  expect(lines.map(({ key, level }) => [key, level])).toEqual([
    ["raw", 0],
    ["clean", 1],
    ["report", 2],
  ]);
  expect(lines[0]?.cells.map(({ states }) => states)).toEqual([
    { materialized: 1 },
    { materialized: 1 },
    { failed: 1 },
  ]);
});

test("cells that are picked are a selection, with their numbers and the key of the only one", () => {
  const [line] = linesOf([board(strip("raw"))]);
  if (line === undefined) throw new Error("no line");
  const several = { line, from: 1, until: 2 };
  expect(pickText(several, written)).toBe("2013-02-02T00:00:00+00:00..2013-02-04T00:00:00+00:00");
  expect(pickCounts(several)).toEqual({ materialized: 1, failed: 1 });
  expect(pickKey(several)).toBeUndefined();
  expect(pickKey({ line, from: 2, until: 2 })).toBe("2013-02-03");
});

test("of a row that was opened only its segment is meant, and without time all", () => {
  const product = strip("product", { folded: "airport", rows: [{ value: "a|b", runs: [[3, 0]] }] });
  const [line] = openedLines(board(product), 0);
  if (line === undefined) throw new Error("no line");
  expect(pickText({ line, from: 0, until: 0 }, written)).toBe(
    `2013-02-01T00:00:00+00:00..2013-02-02T00:00:00+00:00 & airport in ${written("a|b")}`,
  );
  expect(pickKey({ line, from: 0, until: 0 })).toBeUndefined();
  const [timeless] = linesOf([board(strip("keys", { scale: null, runs: [[1, 0]] }))]);
  if (timeless === undefined) throw new Error("no line");
  expect(pickText({ line: timeless, from: 0, until: 0 }, written)).toBe("all");
});

test("a slot that is longer than a column is as wide as it is long", () => {
  const [line] = linesOf([board(strip("raw"))]);
  const slots = [{ ...(line?.slots?.[0] ?? { column: 0 }), column: 1, columns: 2 }] as never;
  expect(slotX(slots[0], 3, 300)).toEqual([100, 300]);
  expect(slotAt(slots, columnAtX(3, 300, 299))).toBe(0);
  expect(slotAt(slots, columnAtX(3, 300, 99))).toBe(-1);
});

test("filters leave what fits; a Dag has its neighbourhood", () => {
  const strips = [
    strip("raw", { tags: ["flights"] }),
    strip("clean", { upstream: ["raw"], owners: ["ann"], counts: { materialized: 3 } }),
    strip("report", { upstream: ["clean"], group: "mart" }),
    strip("broken", { error: "can’t be read", counts: {} }),
  ];
  const left = (change: Partial<typeof NONE>) =>
    [...shownStrips(strips, { ...NONE, ...change })].map(({ asset }) => asset);
  expect(left({})).toHaveLength(4);
  expect(left({ search: "RA" })).toEqual(["raw"]);
  expect(left({ tags: ["flights"] })).toEqual(["raw"]);
  expect(left({ owners: ["ann"] })).toEqual(["clean"]);
  expect(left({ groups: ["mart"] })).toEqual(["report"]);
  expect(left({ states: ["failed"] })).toEqual(["raw", "report", "broken"]);
  expect(left({ dags: ["clean"] })).toEqual(["raw", "clean", "report"]);
  expect(left({ dags: ["report"] })).toEqual(["clean", "report"]);
});

test("a stretch of time ends now where the board goes on", () => {
  const [start, end] = ["2013-02-01T00:00:00.000Z", "2013-02-03T00:00:00.000Z"];
  const over = { assets: ["raw"], since: start, until: end };
  expect(stretchOf(["raw"], Date.parse(start), Date.parse(end), board())).toEqual(over);
  const open = stretchOf(["raw"], Date.parse(start), Date.parse(end), { ...board(), now: "2013-02-02T12:00:00Z" });
  expect(open).toEqual({ ...over, until: null });
});
