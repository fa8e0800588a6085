import { expect, it } from "vitest";

import { paceWords } from "../../src/actions/PlanPreview";

it.each([
  [{ batch: 1, tasks: 24, limits: {} }, ""],
  [{ batch: 100, tasks: 1, limits: {} }, "1 task, of up to 100 partitions each"],
  [{ batch: 1, tasks: 24, limits: { customer: 1 } }, "at most 1 run of each customer at a time"],
  [
    { batch: 10, tasks: 3, limits: { customer: 2, region: 1 } },
    "3 tasks, of up to 10 partitions each; at most 2 runs of each customer at a time; at most 1 run of each region at a time",
  ],
])("%j", (step, words) => {
  expect(paceWords(step)).toBe(words);
});
