import { expect, test } from "vitest";

import openapi from "../../openapi.json";
import { readOptions, USUAL } from "../../src/actions/runOptions";

const { minimum, maximum, default: usual } = openapi.components.schemas.MaterializePartitions.properties.concurrency;
const mistakeOf = (concurrency: number) => readOptions({ ...USUAL, concurrency: String(concurrency) }).mistakes;

test("how many runs there may be at a time is what the server takes", () => {
  expect(readOptions(USUAL).options.concurrency).toBe(usual);
  expect([minimum, maximum].map(mistakeOf)).toEqual([{}, {}]);
  expect(mistakeOf(minimum - 1)).toHaveProperty("concurrency");
  expect(mistakeOf(maximum + 1)).toHaveProperty("concurrency");
});
