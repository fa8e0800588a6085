import { expect, test } from "vitest";

import { timeTicks } from "../../src/grid/axis";
import { dateInstant, momentText, offsetText } from "../../src/grid/zone";

const HOUR = 3_600_000;
const at = (text: string) => Date.parse(text);
const texts = (start: string, end: string, least: number, zone: string) =>
  timeTicks(at(start), at(end), least, zone).map(({ text }) => text);

test("the day on which clocks go forward has 23 hours", () => {
  const zone = "America/New_York";
  const [start, end] = [dateInstant(2013, 3, 10, zone), dateInstant(2013, 3, 11, zone)];
  expect((end - start) / HOUR).toBe(23);
  const ticks = timeTicks(start, end, HOUR, zone);
  expect(ticks).toHaveLength(23);
  expect(ticks.slice(0, 4).map(({ text }) => text)).toEqual(["10 Mar", "01:00", "03:00 -04:00", "04:00"]);
});

test("the day on which clocks go back has 25 hours, and both of one name are told apart", () => {
  const zone = "America/New_York";
  const [start, end] = [dateInstant(2013, 11, 3, zone), dateInstant(2013, 11, 4, zone)];
  const ticks = timeTicks(start, end, HOUR, zone);
  expect(ticks).toHaveLength(25);
  expect(ticks.slice(0, 4).map(({ text }) => text)).toEqual(["3 Nov", "01:00", "01:00 -05:00", "02:00"]);
});

test("steps of six hours stay at the hours of the zone's clocks over a change", () => {
  expect(texts("2013-03-09T05:00Z", "2013-03-12T04:00Z", 6 * HOUR, "America/New_York")).toEqual([
    "9 Mar",
    "06:00",
    "12:00",
    "18:00",
    "10 Mar",
    "06:00 -04:00",
    "12:00",
    "18:00",
    "11 Mar",
    "06:00",
    "12:00",
    "18:00",
  ]);
});

test.each(["Asia/Kolkata", "Asia/Kathmandu", "Australia/Eucla", "America/St_Johns"])(
  "hours of %s stand where its clocks show them",
  (zone) => {
    const ticks = timeTicks(at("2021-06-01T00:10Z"), at("2021-06-02T00:10Z"), HOUR, zone);
    expect(ticks).toHaveLength(24);
    for (const tick of ticks) expect(momentText(tick.at, zone)).toMatch(/:00 |^\d{4}-\d\d-\d\d$/);
  },
);

test("clocks that go forward by half an hour", () => {
  const zone = "Australia/Lord_Howe";
  const [start, end] = [dateInstant(2021, 10, 3, zone), dateInstant(2021, 10, 4, zone)];
  expect((end - start) / HOUR).toBe(23.5);
  expect(timeTicks(start, end, 3 * HOUR, zone).map(({ text }) => text)).toEqual([
    "3 Oct",
    "03:00 +11:00",
    "06:00",
    "09:00",
    "12:00",
    "15:00",
    "18:00",
    "21:00",
  ]);
});

test("days, weeks, months and years", () => {
  const DAY = 24 * HOUR;
  expect(texts("2012-12-30T00:00Z", "2013-01-03T00:00Z", DAY, "UTC")).toEqual([
    "30 Dec",
    "31 Dec",
    "1 Jan 2013",
    "2 Jan",
  ]);
  expect(texts("2013-03-01T00:00Z", "2013-03-20T00:00Z", 5 * DAY, "UTC")).toEqual(["4 Mar", "11 Mar", "18 Mar"]);
  expect(texts("2012-11-15T00:00Z", "2013-02-15T00:00Z", 28 * DAY, "UTC")).toEqual(["Dec", "2013", "Feb"]);
  expect(texts("1999-06-01T00:00Z", "2013-02-15T00:00Z", 1500 * DAY, "UTC")).toEqual(["2000", "2005", "2010"]);
});

test("a date whose midnight there is not begins behind the leap; one whose midnight comes twice with the first", () => {
  expect(dateInstant(2017, 10, 15, "America/Sao_Paulo")).toBe(at("2017-10-15T01:00-02:00"));
  expect(dateInstant(2013, 11, 3, "America/Havana")).toBe(at("2013-11-03T00:00-04:00"));
  expect(dateInstant(2011, 12, 30, "Pacific/Apia")).toBe(at("2011-12-31T00:00+14:00")); // there was no such day
  expect(offsetText(at("2021-01-01T00:00Z"), "Asia/Kathmandu")).toBe("+05:45");
  expect(offsetText(at("2021-01-01T00:00Z"), "America/St_Johns")).toBe("-03:30");
});
