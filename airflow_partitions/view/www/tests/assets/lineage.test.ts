import { expect, test } from "vitest";

import { groups } from "../../src/assets/lineage";
import { listed } from "./listed";

const flights = listed("flights");
const days = listed("days", { upstream: ["flights"] });
const airports = listed("airports", { upstream: ["flights", "elsewhere"] });
const weeks = listed("weeks", { upstream: ["days", "airports"], counts: { failed: 1 } });
const alone = listed("alone");

test("assets that are connected stand together, upstream first; the group with trouble first", () => {
  const rows = groups([alone, weeks, days, flights, airports]).map((group) => group.map(({ asset }) => asset.name));
  expect(rows).toEqual([["flights", "airports", "days", "weeks"], ["alone"]]);
});

test("each row has the lines to it and past it", () => {
  const [group] = groups([flights, days, airports, weeks]);
  expect(group?.map(({ level, past, into, out }) => ({ level, past, into, out }))).toEqual([
    { level: 0, past: [], into: [], out: true },
    { level: 1, past: [0], into: [0], out: true },
    { level: 1, past: [1], into: [0], out: true },
    { level: 2, past: [], into: [1], out: false },
  ]);
});

test("assets in a circle are all there, once", () => {
  const circle = [listed("a", { upstream: ["b"] }), listed("b", { upstream: ["a"] })];
  expect(groups(circle).map((group) => group.map(({ asset }) => asset.name))).toEqual([["a", "b"]]);
});
