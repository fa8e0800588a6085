import { describe, expect, it } from "vitest";

import {
  amountsByDay,
  cellsByDay,
  dayNumber,
  dayText,
  mondayOf,
  partOfDays,
  spanOf,
  weekdayOf,
  weeksUntil,
} from "../../src/calendar/days";
import type { Picture } from "../../src/grid/picture";
import type { Layer } from "../../src/values/layer";

const HOUR = 3_600_000;

/** Intervals of that length, of which every third has failed. */
const intervals = (start: string, count: number, length = HOUR): Picture => {
  const first = Date.parse(start);
  return {
    across: "time",
    down: null,
    timezone: null,
    unit: "interval",
    columns: Array.from({ length: count }, (_, i) => ({
      first: `key ${String(i)}`,
      last: `key ${String(i)}`,
      start: first + i * length,
      end: first + (i + 1) * length,
      count: 1,
    })),
    rows: [{ value: null, cells: Uint32Array.from({ length: count }, (_, i) => (i % 3 === 0 ? 1 : 0)) }],
    cells: [{ states: { materialized: 1 } }, { states: { failed: 1 }, provisional: 1 }],
    rowCount: 1,
  };
};

describe("the days of a picture", () => {
  it.each([
    ["America/New_York", "2013-03-10T05:00Z", "2013-03-10", 23],
    ["America/New_York", "2013-11-03T04:00Z", "2013-11-03", 25],
    ["Asia/Kathmandu", "2013-03-09T18:15Z", "2013-03-10", 24],
    ["UTC", "2013-03-10T00:00Z", "2013-03-10", 24],
  ])("in %s have the hours that begin in them", (zone, start, day, count) => {
    const days = cellsByDay(intervals(start, count + 5), zone);
    expect([...days.keys()].map(dayText)).toHaveLength(2);
    const cell = days.get(dayNumber(Date.parse(start), zone));
    expect(dayText([...days.keys()][0] ?? 0)).toBe(day);
    expect(cell?.total).toBe(count);
    expect(cell?.column).toMatchObject({ first: "key 0", last: `key ${String(count - 1)}`, count });
    expect(cell?.column.end).toBe(spanOf(dayNumber(Date.parse(start), zone), zone).end);
    expect(cell?.states).toMatchObject({ failed: Math.ceil(count / 3), materialized: count - Math.ceil(count / 3) });
    expect(cell?.provisional).toBe(Math.ceil(count / 3));
  });

  it("leave out a day that a zone has skipped", () => {
    const days = cellsByDay(intervals("2011-12-29T10:00Z", 48), "Pacific/Apia"); // from midnight of the 29th
    expect([...days.keys()].map(dayText)).toEqual(["2011-12-29", "2011-12-31"]);
  });

  it("keep the key where it is the only one", () => {
    const days = cellsByDay(intervals("2013-03-10T00:00Z", 3, 24 * HOUR), "UTC");
    expect([...days.values()].map(({ column }) => [column.first, column.count])).toEqual([
      ["key 0", 1],
      ["key 1", 1],
      ["key 2", 1],
    ]);
  });

  it("are none where nothing is", () => {
    expect(cellsByDay({ ...intervals("2013-03-10T00:00Z", 3), rows: [] }, "UTC").size).toBe(0);
    expect(
      cellsByDay({ ...intervals("2013-03-10T00:00Z", 3), cells: [{ states: {} }, { states: {} }] }, "UTC").size,
    ).toBe(0);
  });
});

describe("weeks", () => {
  it("begin on Monday, also before 1970", () => {
    for (const [text, weekday] of [
      ["1969-12-31", 2],
      ["1970-01-01", 3],
      ["2013-03-10", 6],
      ["2013-03-11", 0],
    ] as const)
      expect(weekdayOf(dayNumber(Date.parse(`${text}T12:00Z`), "UTC"))).toBe(weekday);
    expect(dayText(mondayOf(dayNumber(Date.parse("2013-03-10T12:00Z"), "UTC")))).toBe("2013-03-04");
  });

  it("of a year end with that of the day", () => {
    const weeks = weeksUntil(dayNumber(Date.parse("2013-03-10T12:00Z"), "UTC")).map(dayText);
    expect(weeks).toHaveLength(53);
    expect([weeks[0], weeks.at(-1)]).toEqual(["2012-03-05", "2013-03-04"]);
  });
});

describe("the values of days", () => {
  /** A layer in which a column has the value of its number, told by one partition, and every fourth none. */
  const layer: Layer = {
    value: "rows",
    measure: "number",
    ofSeveral: "mean",
    scale: null,
    told: 0,
    untold: 0,
    at: () => null,
    line: [0, 1, 2, null, 4, 5],
    lineTold: [1, 1, 1, 0, 1, 1],
  };

  it("are those of their columns", () => {
    const amounts = amountsByDay(layer, intervals("2013-03-10T00:00Z", 5, 24 * HOUR), "UTC");
    expect([...amounts].map(([day, amount]) => [dayText(day), amount])).toEqual([
      ["2013-03-10", 0],
      ["2013-03-11", 1],
      ["2013-03-12", 2],
      ["2013-03-14", 4],
    ]);
  });

  it("of several columns are the mean or the most of those that tell one", () => {
    const picture = intervals("2013-03-10T20:00Z", 6); // columns 0 to 3 are on the first day
    const day = dayNumber(Date.parse("2013-03-10T20:00Z"), "UTC");
    expect(amountsByDay(layer, picture, "UTC").get(day)).toBe(1);
    expect(amountsByDay({ ...layer, ofSeveral: "most" }, picture, "UTC").get(day)).toBe(2);
    expect(amountsByDay(layer, picture, "UTC").get(day + 1)).toBe(4.5);
  });

  it("of columns with unequal numbers of partitions are the mean of all partitions, not of the columns", () => {
    const picture = intervals("2013-03-10T20:00Z", 3);
    const day = dayNumber(Date.parse("2013-03-10T20:00Z"), "UTC");
    const some = { ...layer, line: [10, 40, null], lineTold: [8, 2, 0] };
    expect(amountsByDay(some, picture, "UTC").get(day)).toBe(16);
  });

  it("are asked for in as many columns as there are days, of what there is", () => {
    const days = { start: Date.parse("2012-03-05T00:00Z"), end: Date.parse("2013-03-11T00:00Z") };
    const extent = { start: Date.parse("2013-03-01T10:00Z"), end: Date.parse("2013-03-10T10:00Z") };
    expect(partOfDays(extent, days, "UTC")).toEqual({ ...extent, columns: 10 });
    const long = { start: Date.parse("2010-01-01T00:00Z"), end: Date.parse("2014-01-01T00:00Z") };
    expect(partOfDays(long, days, "UTC")).toEqual({ ...days, columns: 372 }); // and the day before them
  });
});
