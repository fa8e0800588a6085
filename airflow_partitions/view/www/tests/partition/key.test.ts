import { expect, test } from "vitest";

import { joinKey, splitKey } from "../../src/partition/key";
import { before } from "../../src/partition/neighbourhood";

test.each([
  [["2013-03-01"], "2013-03-01"],
  [["2013-03-01", "JFK"], "2013-03-01|JFK"],
  [["a|b", String.raw`c\d`], String.raw`a\|b|c\\d`],
  [["مطار", "🛫"], "مطار|🛫"],
  [["", "x"], "|x"],
])("a key of %j is written %s, and read back", (parts, key) => {
  expect(joinKey(parts)).toBe(key);
  if (parts.length > 1) expect(splitKey(key)).toEqual(parts);
});

test("the partitions before one have its segments, quoted as in JSON", () => {
  const definition = {
    kind: "product",
    text: "",
    timezone: "UTC",
    dimensions: [
      { name: "date", kind: "interval", count: null },
      { name: "city", kind: "sequence", count: 2 },
    ],
    first: null,
    last: null,
    count: null,
    form: {},
  };
  expect(before(definition, "2013-03-01|St. John's, NL", "2013-03-02T00:00:00+00:00")).toBe(
    `..2013-03-02T00:00:00+00:00 & city = "St. John's, NL"`,
  );
  expect(before(definition, "x", null)).toBeUndefined();
});
