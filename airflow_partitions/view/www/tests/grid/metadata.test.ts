import { expect, test } from "vitest";

import { metadataText } from "../../src/grid/metadataText";
import { portionsOf } from "../../src/grid/useMetadata";

test.each([
  [null, ""],
  [undefined, ""],
  ["EU", "EU"],
  [7, "7"],
  [{}, ""],
  [{ country: "NL", size: 3 }, "country: NL, size: 3"],
  [{ a: 1, b: 2, c: 3, d: 4 }, "a: 1, b: 2, c: 3, …"],
  [{ files: ["x"], size: 3 }, "size: 3, …"],
  [["x", "y"], "x, y"],
])("%j is shown in short", (metadata, text) => expect(metadataText(metadata)).toBe(text));

test("keys are asked for in as few texts as have room for them, each in quotes where it has to be", () => {
  expect(portionsOf(["ann", "a,b", "all"])).toEqual(['ann,"a,b","all"']);
  const long = Array.from({ length: 20 }, (_, i) => `${String(i)}${"x".repeat(200)}`);
  const portions = portionsOf(long);
  expect(portions.map((portion) => portion.split(",").length)).toEqual([9, 9, 2]);
  expect(portionsOf(Array.from({ length: 51 }, (_, i) => String(i)))).toHaveLength(2);
});
