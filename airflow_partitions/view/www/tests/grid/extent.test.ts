import { expect, test } from "vitest";

import { definitionWords } from "../../src/assets/words";
import { expectedExtent } from "../../src/grid/extent";

const definition = {
  kind: "product",
  text: "",
  timezone: "America/New_York",
  dimensions: [
    { name: "date", kind: "interval", count: null },
    { name: "region", kind: "sequence", count: 50 },
  ],
  first: "2013-01-01|a\\|b",
  last: "2013-01-10|z",
  count: 500,
  form: {},
};

test("when the intervals are is known from the keys of the first and last", () => {
  expect(expectedExtent(definition)).toEqual({
    start: Date.parse("2013-01-01T00:00:00-05:00"),
    end: Date.parse("2013-01-11T00:00:00-05:00"),
    count: 10,
  });
});

test("where the keys say nothing of it, one waits for the server", () => {
  expect(expectedExtent({ ...definition, first: null })).toBeNull();
  expect(expectedExtent({ ...definition, first: "week 1|a", last: "week 9|b" })).toBeNull();
  expect(expectedExtent({ ...definition, dimensions: definition.dimensions.slice(1) })).toBeNull();
});

test("en18: a definition in words", () => {
  expect(definitionWords(definition)).toBe(
    "One partition for each interval of time (date) and region (50); " +
      "2013-01-01|a\\|b to 2013-01-10|z in America/New_York; 500 in all.",
  );
  const customers = { ...definition, dimensions: [{ name: "customer", kind: "runtime", count: null }] };
  expect(definitionWords({ ...customers, first: null, last: null, count: null })).toBe(
    "One partition for each key of customer; tasks add them.",
  );
});
