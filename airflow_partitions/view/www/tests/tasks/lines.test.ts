import { expect, test } from "vitest";

import type { components } from "../../src/rest/schema";
import { cellWords, linesOf, pathOf } from "../../src/tasks/lines";
import { inOrder, lookOf } from "../../src/tasks/taskState";

const cell = (own: Partial<components["schemas"]["TaskCell"]> = {}): components["schemas"]["TaskCell"] => ({
  state: "success",
  tries: 1,
  began: null,
  seconds: 75,
  ...own,
});

const matrix: components["schemas"]["TaskMatrix"] = {
  asset: "days",
  partitions: [1, 2].map((day) => ({ key: `2013-01-0${day}`, start: null, end: null, state: "failed" })),
  dags: [
    {
      dag_id: "a dag",
      runs: [null, { run_id: "run/2", state: "failed" }],
      tasks: [
        { task_id: "load", cells: [null, cell({ state: "up_for_retry", tries: 2 })] },
        { task_id: "each", cells: [null, cell({ instances: 3 })] },
        { task_id: "write", cells: [null, cell({ state: null, tries: 0, seconds: null })] },
      ],
    },
  ],
  cursor: null,
};

test("a cell tells its state, tries and how long it took", () => {
  const words = linesOf(matrix).map((line) =>
    matrix.partitions.map((partition, column) => cellWords(line, partition, column)),
  );
  expect(words).toEqual([
    ["load, 2013-01-01, no run", "load, 2013-01-02, up for retry, 2 tries, 1 min 15 s"],
    ["each, 2013-01-01, no run", "each, 2013-01-02, success, 3 instances, 1 try, 1 min 15 s"],
    ["write, 2013-01-01, no run", "write, 2013-01-02, not begun"],
  ]);
});

test("a cell leads to Airflow's page of the task, or of its mapped instances", () => {
  expect(linesOf(matrix).map((line) => [0, 1].map((column) => pathOf(line, column)))).toEqual([
    [null, "/dags/a%20dag/runs/run%2F2/tasks/load"],
    [null, "/dags/a%20dag/runs/run%2F2/tasks/each/mapped"],
    [null, "/dags/a%20dag/runs/run%2F2/tasks/write"],
  ]);
});

test("what is worst comes first, and a state of a later Airflow has a look, too", () => {
  expect(inOrder(["success", null, "up_for_retry", "failed"])).toEqual(["failed", "up_for_retry", null, "success"]);
  expect(lookOf("new_state").meaning).toBe("new_state");
});
