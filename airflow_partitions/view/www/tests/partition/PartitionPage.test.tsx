import { act, screen, within } from "@testing-library/react";
import { http, HttpResponse } from "msw";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { PartitionPage } from "../../src/partition/PartitionPage";
import { answer, cache, refuse, request } from "../actions/server";
import { server } from "../server";
import { shown } from "../shown";

const run = {
  dag_id: "days",
  run_id: "manual__1",
  state: "failed",
  kind: "manual",
  queued: null,
  began: "2026-11-22T20:00:00+00:00",
  ended: "2026-11-22T20:01:15+00:00",
  task_id: "days",
  tries: 2,
  failed: ["clean"],
  note: "",
  conf: {},
  backfill: null,
};

const stretch = (state: string, first: string, last: string, count: number) => ({ state, first, last, count });

const partition = {
  asset: "days",
  key: "2013-02-08",
  now: "2026-11-22T20:00:00+00:00",
  state: "failed",
  provisional: false,
  reasons: ["run manual__1 of days failed: clean", "an event materialized it before"],
  start: "2013-02-08T00:00:00-05:00",
  end: "2013-02-09T00:00:00-05:00",
  previous: "2013-02-07",
  next: null,
  events: [{ at: "2026-11-21T20:00:00+00:00", dag_id: "days", run_id: "r", extra: { rows: 5, reads: { raw: {} } } }],
  runs: [run],
  upstream: [
    {
      asset: "hours",
      dag_id: "days",
      count: 24,
      stretches: [stretch("materialized", "h00", "h19", 20), stretch("missing", "h20", "h23", 4)],
      more: false,
    },
  ],
  downstream: [],
  upstream_hidden: false,
  downstream_hidden: false,
};

const open = (key = "2013-02-08") =>
  shown(<PartitionPage />, `/plugin/partitions/assets/days/partitions/${encodeURIComponent(key)}`, cache());

beforeEach(() => {
  answer("/assets/days/partitions/:key", partition);
  answer("/assets/days", {
    name: "days",
    definition: { dimensions: [], timezone: "America/New_York" },
    may_change: true,
  });
  answer("/assets/days/counts", { asset: "days", now: "", total: 1, counts: { failed: 1 }, provisional: 0 });
  answer("/assets/days/materializations", { asset: "days", materializations: [] });
  answer("/requests/7", request);
});

afterEach(() => vi.useRealTimers());

test("the log of a run that another one has made in its batch is that of the other", async () => {
  const made = { ...run, state: "success", tries: 1, failed: [], error: null, leader: "backfill__9" };
  answer("/assets/days/partitions/:key", { ...partition, runs: [made] });
  open();
  expect(await screen.findByRole("link", { name: "days of its batch" })).toHaveProperty(
    "pathname",
    "/dags/days/runs/backfill__9/tasks/days",
  );
});

test("why it is so stands first; then runs with the way to their logs, and what it needs", async () => {
  open();
  const why = await screen.findByRole("region", { name: "Why" });
  expect(why.textContent).toMatch(/^Run manual__1 of days failed: clean/);
  expect(screen.getByText(/^2013-02-08 00:00 -05:00 up to 2013-02-09 00:00 -05:00/)).toBeDefined();
  expect(screen.getByRole("link", { name: "clean (failed)" })).toHaveProperty(
    "pathname",
    "/dags/days/runs/manual__1/tasks/clean",
  );
  expect(screen.getByText("1 min 15 s")).toBeDefined();
  const needs = screen.getByRole("region", { name: "Needs" });
  expect(needs.textContent).toContain("24 partitions: 4 missing, 20 materialized");
  expect(within(needs).getByRole("link", { name: "h20 to h23 (4)" })).toHaveProperty(
    "pathname",
    "/plugin/partitions/assets/hours/partitions/h20",
  );
  expect(screen.getByRole("link", { name: "← Previous" })).toHaveProperty(
    "pathname",
    "/plugin/partitions/assets/days/partitions/2013-02-07",
  );
  expect(screen.queryByRole("link", { name: "Next →" })).toBeNull();
  expect(await screen.findByRole("button", { name: "Re-run…" })).toBeDefined();
});

test("where nothing counted what was read, the page says so at its head and at the event", async () => {
  const [event] = partition.events;
  answer("/assets/days/partitions/:key", { ...partition, events: [{ ...event, unproven: "hours" }, event] });
  open();
  const badges = await screen.findAllByText("reads not proven");
  expect(badges.map(({ title }) => title)).toEqual([
    "What it read of hours is not proven: nothing counted it where its job ran",
    "What it read of hours is not proven: nothing counted it where its job ran",
  ]);
});

test("who may only look is offered no change", async () => {
  answer("/assets/days", { name: "days", definition: { dimensions: [], timezone: null }, may_change: false });
  open();
  expect(await screen.findByText("You may look at these partitions, and not change them.")).toBeDefined();
  expect(screen.queryByRole("button", { name: /Re-run|Mark|Forget/ })).toBeNull();
});

test.each([
  [false, "No partition of another asset needs it"],
  [true, "Nothing that you may see"],
])("where nothing downstream is told of, and something is hidden: %s, it says so", async (hidden, words) => {
  answer("/assets/days/partitions/:key", { ...partition, downstream_hidden: hidden });
  open();
  expect((await screen.findByRole("region", { name: "Needed by" })).textContent).toBe(`Needed by${words}`);
});

test.each([
  [false, "It needs no partition of another asset"],
  [true, "Nothing that you may see"],
])("where nothing upstream is told of, and something is hidden: %s, it says so", async (hidden, words) => {
  answer("/assets/days/partitions/:key", { ...partition, upstream: [], upstream_hidden: hidden });
  open();
  expect((await screen.findByRole("region", { name: "Needs" })).textContent).toBe(`Needs${words}`);
});

test("a partition that there is none of says what the server says", async () => {
  refuse("get", "/assets/days/partitions/:key", 422, { title: "Invalid key", detail: "'x' is no key of days" });
  open("x");
  expect(await screen.findByText("'x' is no key of days")).toBeDefined();
});

test.each([
  ["running", 3_000],
  ["materialized", 10_000],
])("what is %s is asked for again after %i ms", async (state, pace) => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  let questions = 0;
  server.use(
    http.get("*/asset-partitions/api/v1/assets/days/partitions/:key", () => {
      questions += 1;
      return HttpResponse.json({ ...partition, state, runs: [] });
    }),
  );
  open();
  await screen.findByRole("region", { name: "Why" });
  expect(questions).toBe(1);
  await act(() => vi.advanceTimersByTimeAsync(pace - 1_000));
  expect(questions).toBe(1);
  await act(() => vi.advanceTimersByTimeAsync(1_500));
  await vi.waitFor(() => expect(questions).toBe(2));
});

test("a request at work stands on the page, where it can be cancelled", async () => {
  answer("/assets/days/partitions/:key", { ...partition, runs: [{ ...run, state: "queued", backfill: 7 }] });
  open();
  expect(await screen.findByRole("button", { name: "Cancel request" })).toBeDefined();
});
