import { expect, test } from "vitest";

import { shares } from "../../src/states/shares";
import { countsText, states } from "../../src/states/state";

test("one failed of a thousand is seen, and what is worst comes first", () => {
  const parts = shares({ materialized: 999, failed: 1 }, 20, 2);
  expect(parts).toEqual([
    { state: "failed", length: 2 },
    { state: "materialized", length: 18 },
  ]);
});

test("shares add up to the length", () => {
  for (const length of [1, 3, 7, 20, 333])
    for (const counts of [
      { failed: 1 },
      { failed: 1, missing: 5, queued: 1000 },
      Object.fromEntries(states.map((s) => [s, 3])),
    ]) {
      const sum = shares(counts, length, 2).reduce((total, part) => total + part.length, 0);
      expect(sum).toBeCloseTo(length);
    }
});

test("where there is no room for all, the worst is shown", () => {
  expect(shares({ materialized: 1000, stale: 1 }, 2, 2)).toEqual([{ state: "stale", length: 2 }]);
});

test("nothing has no shares", () => {
  expect(shares({}, 20, 2)).toEqual([]);
});

test("counts in words", () => {
  expect(countsText({ materialized: 1204, failed: 3 })).toBe("3 failed, 1,204 materialized");
});
