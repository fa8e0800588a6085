import { screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { expect, test } from "vitest";

import { RunPartitionButton } from "../../src/actions/RunPartition";
import { server } from "../server";
import { shown } from "../shown";
import { answer, cache, dag, plan, refuse, take } from "./server";

const key = (text: string, more: object = {}) => ({ key: text, dimensions: {}, start: null, end: null, ...more });

const about = (dimensions: readonly object[]) =>
  answer("/assets/days", { name: "days", definition: { dimensions, timezone: "America/New_York" }, may_change: true });

const open = async () => {
  shown(<RunPartitionButton asset="days" />, undefined, cache());
  await userEvent.click(screen.getByRole("button", { name: "Run a partition…" }));
};

/** Answers the question for keys, and keeps what was asked. */
const keys = (byDimension: Record<string, object[]>): URLSearchParams[] => {
  const asked: URLSearchParams[] = [];
  server.use(
    http.get("*/asset-partitions/api/v1/assets/days/keys", ({ request }) => {
      const { searchParams } = new URL(request.url);
      asked.push(searchParams);
      return HttpResponse.json({ keys: byDimension[searchParams.get("dimension") ?? ""], count: 1, cursor: null });
    }),
  );
  return asked;
};

test("a key of two dimensions is picked among valid ones, and planned by its text", async () => {
  about([
    { name: "date", kind: "interval", count: null },
    { name: "origin", kind: "sequence", count: 1 },
  ]);
  const night = { start: "2013-11-03T01:00:00-04:00", end: "2013-11-03T01:00:00-05:00" };
  const asked = keys({ date: [key("2013-11-03T01:00-04:00", night)], origin: [key("a|b")] });
  const plans: (string | null)[] = [];
  server.use(
    http.get("*/asset-partitions/api/v1/assets/days/plan", ({ request }) => {
      plans.push(new URL(request.url).searchParams.get("select"));
      return HttpResponse.json(plan);
    }),
  );
  dag(false);
  await open();
  const next = await screen.findByRole("button", { name: "Next: see the plan" });
  await userEvent.click(await screen.findByRole("option", { name: /^2013-11-03T01:00-04:00/ }));
  expect(next).toHaveProperty("disabled", true);
  await userEvent.click(screen.getByRole("option", { name: "a|b" }));
  await userEvent.click(next);
  await screen.findByRole("button", { name: "Materialize 2 partitions" });
  expect(plans).toEqual([String.raw`2013-11-03T01:00-04:00|a\|b`]);
  expect(asked.map((params) => params.get("dimension")).sort()).toEqual(["date", "origin"]);
});

test("a day lists the intervals up to it, the newest first", async () => {
  about([{ name: "time", kind: "interval", count: null }]);
  const asked = keys({ time: [key("2013-03-31")] });
  await open();
  await userEvent.type(await screen.findByLabelText("time: up to the day"), "2013-03-31");
  await waitFor(() => expect(asked.at(-1)?.get("select")).toBe("..2013-04-01"));
});

test("a search narrows the keys at the server", async () => {
  about([{ name: "origin", kind: "sequence", count: 3 }]);
  const asked = keys({ origin: [key("JFK")] });
  await open();
  await userEvent.type(await screen.findByLabelText("Search origin"), "jf");
  await waitFor(() => expect(asked.at(-1)?.get("search")).toBe("jf"));
});

test("a key that is known only at runtime can be added, and is picked then", async () => {
  about([{ name: "customer", kind: "runtime", count: null }]);
  keys({ customer: [key("ann")] });
  const bodies = take("/assets/days/keys/add", () => ({
    asset: "days",
    name: "customers",
    keys: ["bob"],
    known: 0,
    dry_run: false,
  }));
  await open();
  await userEvent.type(await screen.findByLabelText("Add a key"), "bob");
  await userEvent.click(screen.getByRole("button", { name: "Add" }));
  await waitFor(() =>
    expect(screen.getByRole("button", { name: "Next: see the plan" })).toHaveProperty("disabled", false),
  );
  expect(bodies).toMatchObject([{ keys: ["bob"] }]);
});

test("a key that is not allowed is refused beside its field", async () => {
  about([{ name: "customer", kind: "runtime", count: null }]);
  keys({ customer: [] });
  refuse("post", "/assets/days/keys/add", 422, {
    type: "urn:airflow-partitions:invalid-key",
    detail: "'x y' is no key",
  });
  await open();
  await userEvent.type(await screen.findByLabelText("Add a key"), "x y");
  await userEvent.click(screen.getByRole("button", { name: "Add" }));
  expect((await screen.findByRole("alert")).textContent).toContain("'x y' is no key");
});

test("arrows move between the keys, of which the tab key stops at one", async () => {
  about([{ name: "origin", kind: "sequence", count: 2 }]);
  keys({ origin: [key("JFK"), key("LGA")] });
  await open();
  const first = await screen.findByRole("option", { name: "JFK" });
  const last = screen.getByRole("option", { name: "LGA" });
  expect([first, last].map(({ tabIndex }) => tabIndex)).toEqual([0, -1]);
  first.focus();
  await userEvent.keyboard("{ArrowDown}");
  expect(document.activeElement).toBe(last);
  await userEvent.keyboard("{Enter}");
  expect(last.getAttribute("aria-selected")).toBe("true");
});
