import { expect, test } from "vitest";

import { due } from "../../src/assets/Due";
import { byName, byTrouble, share } from "../../src/assets/health";
import { listed } from "./listed";

test("what needs somebody most comes first, then the name", () => {
  const assets = [
    listed("fine"),
    listed("a_fine", { counts: { materialized: 9 } }),
    listed("missing", { counts: { missing: 900 } }),
    listed("paused", { paused: ["dag"] }),
    listed("stale", { counts: { stale: 2 } }),
    listed("failed", { counts: { failed: 1, materialized: 9_999 } }),
    listed("worse", { counts: { failed: 3 } }),
    listed("broken", {
      absent: [{ dag_id: "dag", cause: "missing", file: "dag.py", error: null, text: "made by Dag dag" }],
    }),
    listed("uncounted", { error: "ValueError: no such key" }),
  ];
  const names = [...assets].sort(byTrouble).map(({ name }) => name);
  expect(names).toEqual(["uncounted", "broken", "worse", "failed", "stale", "paused", "missing", "a_fine", "fine"]);
});

test("names are in the order in which one counts", () => {
  const names = ["asset_10", "asset_9"].map((name) => listed(name)).sort(byName);
  expect(names.map(({ name }) => name)).toEqual(["asset_9", "asset_10"]);
});

test.each([
  [{ materialized: 99_999, missing: 1 }, "99.9 %"],
  [{ materialized: 5 }, "100 %"],
  [{ failed: 5 }, "0 %"],
  [{}, "–"],
])("the share of %o is %s: 100 only if all are there", (counts, text) => {
  expect(share(listed("asset", { counts }))).toBe(text);
});

test.each([
  ["2026-03-01T12:12:30Z", "due in 12 min"],
  ["2026-03-01T17:59:00Z", "due in 5 h"],
  ["2026-03-02T13:00:00Z", "due in 25 h"],
  ["2026-03-04T12:00:00Z", "due in 3 days"],
  ["2026-03-01T12:00:20Z", "due in less than a minute"],
  ["2026-03-01T11:00:00Z", "due now"],
])("%s is %s at noon", (at, text) => {
  expect(due(new Date(at), new Date("2026-03-01T12:00:00Z"))).toBe(text);
});
