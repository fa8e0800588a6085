import { screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { expect, test } from "vitest";

import { Actions } from "../../src/actions/Actions";
import { shown } from "../shown";
import { answer, cache, dag, plan, request, step, take } from "./server";

const count = (counts: Record<string, number>) =>
  answer("/assets/days/counts", {
    asset: "days",
    now: "2026-11-22T20:00:00+00:00",
    total: Object.values(counts).reduce((total, each) => total + each, 0),
    counts,
    provisional: 0,
  });

const names = () => screen.queryAllByRole("button").map((button) => button.textContent);

test("from a failed partition, two clicks have it run again", async () => {
  count({ failed: 1 });
  const one = { ...plan, partitions: 1, steps: [{ ...step, partitions: 1 }] };
  answer("/assets/days/plan", one);
  answer("/requests/7", request);
  answer("/assets/days", { name: "days", may_change: true });
  dag(false);
  const bodies = take("/assets/days/requests", () => ({
    asset: "days",
    plan: one,
    requests: [request],
    dry_run: false,
  }));
  shown(<Actions asset="days" selection="2013-02-08" mayChange />, undefined, cache());
  await userEvent.click(await screen.findByRole("button", { name: "Re-run…" }));
  await userEvent.click(await screen.findByRole("button", { name: "Materialize 1 partition" }));
  await screen.findByText("Asked for 1 partition.");
  expect(bodies).toMatchObject([{ select: "2013-02-08", states: ["failed"] }]);
});

test("the numbers of what failed and of what is missing stand on the buttons", async () => {
  count({ failed: 3, missing: 4, materialized: 5 });
  shown(<Actions asset="days" selection="2013-02" mayChange />, undefined, cache());
  await screen.findByRole("button", { name: "Re-run failed (3)" });
  expect(names()).toEqual(["Re-run failed (3)", "Fill missing (4)", "Materialize…", "Mark…", "Forget…"]);
});

test("what is not there can't be forgotten", async () => {
  count({ missing: 2 });
  shown(<Actions asset="days" selection="2013-02" mayChange />, undefined, cache());
  await expect.poll(() => screen.getByRole("button", { name: "Forget…" })).toHaveProperty("disabled", true);
});

test("who may only look is offered nothing", () => {
  count({ failed: 1 });
  shown(<Actions asset="days" selection="2013-02" mayChange={false} />, undefined, cache());
  expect(names()).toEqual([]);
  expect(screen.getByText("You may look at these partitions, and not change them.")).toBeDefined();
});

test("what is being made can't be asked for again", async () => {
  count({ running: 1, queued: 1 });
  shown(<Actions asset="days" selection="2013-02" mayChange />, undefined, cache());
  await expect.poll(() => screen.getByRole("button", { name: "Materialize…" })).toHaveProperty("disabled", true);
});
