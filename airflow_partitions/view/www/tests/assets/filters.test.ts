import { expect, test } from "vitest";

import { putInAddress } from "../../src/page/address";
import { filtered, filtersOf, valuesOf, type Filters } from "../../src/assets/filters";
import { listed } from "./listed";

const all: Filters = { search: "", states: [], tags: [], owners: [], by: "trouble" };

test.each<Filters>([
  all,
  { search: "a&b=c #%/", states: ["failed", "stale"], tags: ["gold", "für uns"], owners: ["ann"], by: "graph" },
])("the address keeps the filters %o", (filters) => {
  putInAddress(valuesOf(filters));
  expect(filtersOf(new URLSearchParams(window.location.search))).toEqual(filters);
});

test("what an address does not know is left out", () => {
  expect(filtersOf(new URLSearchParams("state=broken&by=size"))).toEqual(all);
  putInAddress(valuesOf(all));
  expect(window.location.search).toBe("");
});

test("an asset that can't be counted may have partitions in any state", () => {
  const assets = [listed("fine", { counts: { materialized: 1 } }), listed("uncounted", { error: "ValueError: …" })];
  expect(filtered(assets, { ...all, states: ["failed"] }).map(({ name }) => name)).toEqual(["uncounted"]);
});

test("of each kind of filter one value has to fit", () => {
  const assets = [
    listed("Hourly_flights", { counts: { failed: 1 }, tags: ["gold"], owners: ["ann"] }),
    listed("days", { counts: { stale: 1 }, tags: ["gold", "flights"], owners: ["bob"] }),
    listed("weeks", { counts: { materialized: 1 }, owners: ["ann"] }),
  ];
  const names = (own: Partial<Filters>) => filtered(assets, { ...all, ...own }).map(({ name }) => name);
  expect(names({})).toHaveLength(3);
  expect(names({ search: "hourly" })).toEqual(["Hourly_flights"]);
  expect(names({ states: ["failed", "stale"] })).toEqual(["Hourly_flights", "days"]);
  expect(names({ tags: ["gold"], owners: ["bob"] })).toEqual(["days"]);
  expect(names({ tags: ["flights"], owners: ["ann"] })).toEqual([]);
});
