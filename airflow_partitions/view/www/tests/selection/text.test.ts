import { expect, test } from "vitest";

import { dateInstant } from "../../src/grid/zone";
import { holds, withBox, without, type Box, type Region } from "../../src/selection/region";
import { regionOf, regionText, type Frame } from "../../src/selection/text";

const HOUR = 3_600_000;
const rows = ["JFK", "LGA", "St. John's, NL", "تهران", "🛫 in air", 'say "hi"', "all", "a|b", "latest"];
const frame: Frame = {
  dimensions: ["time", "origin"],
  time: "time",
  zone: "America/New_York",
  across: "time",
  down: "origin",
  values: [],
  only: {},
};
const day = (date: number, month = 3) => dateInstant(2013, month, date, frame.zone);

/** Numbers that look random and are the same each time. */
const dice = (seed: number) => () => (seed = (seed * 16807) % 2147483647) / 2147483647;

test("a range of days and some rows, half open", () => {
  const box: Box = { start: day(1), end: day(10), rows: new Set(["JFK", "LGA"]) };
  expect(regionText([box], frame)).toBe("2013-03-01..2013-03-10 & origin in JFK,LGA");
  expect(regionOf("2013-03-01..2013-03-10 & origin in JFK,LGA", frame)).toEqual([box]);
});

test.each([
  ["2013-03", [{ start: day(1), end: day(1, 4), rows: null }]],
  ["2013-03-08|JFK", [{ start: day(8), end: day(9), rows: new Set(["JFK"]) }]],
  ["2013-03-08 & origin in LGA", [{ start: day(8), end: day(9), rows: new Set(["LGA"]) }]],
  ["origin in JFK", [{ start: -Infinity, end: Infinity, rows: new Set(["JFK"]) }]],
  ["..2013-03-02", [{ start: -Infinity, end: day(2), rows: null }]],
  ["all", [{ start: -Infinity, end: Infinity, rows: null }]],
])("%s is read back", (text, region) => expect(regionOf(text, frame)).toEqual(region));

test.each(["latest", "nowhere in JFK", "2013-03-01 & ", '"open', "2013-03-01T05:00..2013-03-02", ""])(
  "%s is left to the server",
  (text) => expect(regionOf(text, frame)).toBeNull(),
);

test("the two hours of the same name are told apart", () => {
  const start = Date.parse("2013-11-03T01:00:00-05:00");
  expect(regionText([{ start, end: start + HOUR, rows: null }], frame)).toBe(
    "2013-11-03T01:00-05:00..2013-11-03T02:00-05:00",
  );
});

test("what a day without midnight begins with is the date", () => {
  const zone = "America/Sao_Paulo";
  const start = Date.parse("2017-10-15T03:00:00Z");
  const text = regionText([{ start, end: start + 23 * HOUR, rows: null }], { ...frame, zone });
  expect(text).toBe("2017-10-15");
  expect(regionOf(text, { ...frame, zone })).toEqual([{ start, end: start + 23 * HOUR, rows: null }]);
});

test("rows alone, columns of values, and a sequence", () => {
  const sequence: Frame = { ...frame, dimensions: ["airport"], time: null, across: null, down: "airport" };
  const region: Region = [{ start: -Infinity, end: Infinity, rows: new Set(["JFK", "a, b"]) }];
  expect(regionText(region, sequence)).toBe('airport in JFK,"a, b"');
  expect(regionOf('airport in JFK,"a, b"', sequence)).toEqual(region);
  expect(regionOf('JFK,"a, b"', sequence)).toEqual(region);
  const matrix: Frame = {
    ...frame,
    dimensions: ["x", "y"],
    time: null,
    across: "x",
    down: "y",
    values: ["p", "q", "r"],
  };
  const box: Box = { start: 1, end: 3, rows: new Set(["z"]) };
  expect(regionText([box], matrix)).toBe("x in q,r & y in z");
  expect(regionOf("x in q,r & y in z", matrix)).toEqual([box]);
});

test("what is shown only is part of what is selected", () => {
  const narrow: Frame = { ...frame, dimensions: ["time", "carrier", "origin"], only: { carrier: "A, B" } };
  const box: Box = { start: day(1), end: day(2), rows: new Set(["JFK"]) };
  const text = '2013-03-01 & carrier in "A, B" & origin in JFK';
  expect(regionText([box], narrow)).toBe(text);
  expect(regionOf(text, narrow)).toEqual([box]);
  expect(regionOf("2013-03-01 & carrier in C", narrow)).toEqual([]);
});

test("a box of no rows selects nothing, least of all everything", () => {
  const sequence: Frame = { ...frame, dimensions: ["airport"], time: null, across: null, down: "airport" };
  expect(regionText([{ start: -Infinity, end: Infinity, rows: new Set() }], sequence)).toBe("");
});

test("all beside some is all", () => {
  const region = regionOf("all; 2013-03-01", frame) ?? [];
  expect(regionText(region, frame)).toBe("all");
});

test("any cells that are painted come back from their text, and only they", () => {
  const zones = ["America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"];
  for (let seed = 1; seed <= 60; seed += 1) {
    const next = dice(seed * 7919);
    const zone = zones[seed % zones.length] ?? "UTC";
    const origin = Date.parse("2021-10-29T00:00:00Z");
    const painted = new Set<string>();
    let region: Region = [];
    for (let i = 0; i < 12; i += 1) {
      const first = Math.floor(next() * 200);
      const last = first + 1 + Math.floor(next() * 30);
      const some = next() < 0.3 ? rows : rows.filter(() => next() < 0.4);
      if (some.length === 0) continue;
      const adds = next() < 0.7;
      const box = {
        start: origin + first * HOUR,
        end: origin + last * HOUR,
        rows: some === rows ? null : new Set(some),
      };
      region = adds ? withBox(region, box, rows) : without(region, box, rows);
      for (let hour = first; hour < last; hour += 1)
        for (const row of some) painted[adds ? "add" : "delete"](`${hour} ${row}`);
    }
    const there = { ...frame, zone };
    const text = regionText(region, there);
    const again = text === "" ? [] : regionOf(text, there);
    expect(again).not.toBeNull();
    const wrong: string[] = [];
    for (let hour = 0; hour < 240; hour += 1)
      for (const row of rows) {
        const expected = painted.has(`${hour} ${row}`);
        const at = origin + hour * HOUR;
        if (holds(region, at, row) !== expected || holds(again ?? [], at, row) !== expected)
          wrong.push(`${hour} ${row}`);
      }
    expect(wrong, text).toEqual([]);
    expect(regionText(again ?? [], there)).toBe(text);
  }
});
