import { act, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { Route, Routes } from "react-router-dom";
import { afterEach, beforeEach, expect, test } from "vitest";

import { verbsFor } from "../../src/requests/verbs";
import { RequestPage } from "../../src/requests/RequestPage";
import { RequestsPage } from "../../src/requests/RequestsPage";
import { partsOf, partsText } from "../../src/requests/RunsBar";
import { answer, cache, refuse, request as sample, take } from "../actions/server";
import { answers, server } from "../server";
import { shown } from "../shown";

type Request = Parameters<typeof verbsFor>[0];

const request = sample as Request;

const about = { name: "days", may_change: true, definition: { kind: "interval" } };

beforeEach(() => answer("/assets/days", about));

afterEach(() => window.history.replaceState(null, "", "/"));

const open = (at: string) => {
  window.history.replaceState(null, "", `/plugin/partitions/requests${at}`);
  shown(
    <Routes>
      <Route path="/plugin/partitions/requests" element={<RequestsPage />} />
      <Route path="/plugin/partitions/requests/:request" element={<RequestPage />} />
    </Routes>,
    `/plugin/partitions/requests${at}`,
    cache(),
  );
};

test.each<[Partial<Request>, string[]]>([
  [{ state: "running" }, ["pause", "cancel"]],
  [{ state: "paused" }, ["resume", "cancel"]],
  [{ state: "stopped", runs: { failed: 1, queued: 1 } }, ["retry", "resume", "cancel"]],
  [{ state: "failed", runs: { failed: 2 } }, ["retry"]],
  [{ state: "cancelled", created: 1 }, ["retry"]],
  [{ state: "done", runs: { success: 2 } }, []],
])("with a request %j one is offered %j, and nothing that would be refused", (change, verbs) => {
  expect(verbsFor({ ...request, ...change })).toEqual(verbs);
});

test("the parts of a request are its runs by state, and what has no run yet", () => {
  const parts = partsOf({ partitions: 10, runs: { success: 3, failed: 1, again: 2 } });
  expect(partsText(parts)).toBe("3 succeeded, 1 failed, 2 again, 4 without a run yet");
});

test("a request tells how far it has come and what failed, each a link", async () => {
  answer("/requests/7", { ...request, state: "failed", runs: { success: 1, failed: 1 } });
  answer("/assets/days/states", {
    asset: "days",
    now: "",
    stretches: [{ state: "failed", first: "2013-02-08", last: "2013-02-08", count: 1 }],
    cursor: null,
  });
  open("/7");
  expect(await screen.findByRole("link", { name: "2013-02-08" })).toHaveProperty(
    "pathname",
    "/plugin/partitions/assets/days/partitions/2013-02-08",
  );
  expect(screen.getByText("1 succeeded, 1 failed")).toBeDefined();
  expect(screen.getByRole("button", { name: "Re-run failed" })).toBeDefined();
});

const day = (number: number) => `2013-02-${String(number).padStart(2, "0")}`;
const ofFebruary = (first: number, last: number) => ({
  state: "failed",
  first: day(first),
  last: day(last),
  count: last - first + 1,
  start: `${day(first)}T00:00:00-05:00`,
  end: `${day(last + 1)}T00:00:00-05:00`,
  segments: { airport: ["JFK", "St. John's, NL"] },
});

/** The questions for keys, which the server answers with the keys in some list that one asks for. */
const answerKeys = (listed: readonly string[]) => {
  const questions: Record<string, string>[] = [];
  server.use(
    http.get("*/asset-partitions/api/v1/assets/days/keys", ({ request: sent }) => {
      const query = Object.fromEntries(new URL(sent.url).searchParams);
      questions.push(query);
      const first = query.cursor === undefined ? 0 : listed.indexOf(query.cursor) + 1;
      const keys = listed.slice(first, first + Number(query.limit)).map((key) => ({ key }));
      return HttpResponse.json({ keys, cursor: null });
    }),
  );
  return questions;
};

const openFailed = (...stretches: object[]) => {
  answer("/requests/7", { ...request, state: "failed", runs: { failed: 1 } });
  answer("/assets/days/states", { asset: "days", now: "", stretches, cursor: null });
  open("/7");
};

/** Answers what is known of each partition: why its run failed, and gives the keys that were asked for. */
const answerPartitions = (errorOf: (key: string) => string) => {
  const asked: string[] = [];
  server.use(
    http.get("*/asset-partitions/api/v1/assets/days/partitions/:key", ({ params }) => {
      const key = String(params.key);
      asked.push(key);
      return HttpResponse.json({ key, runs: [{ state: "failed", failed: ["load"], tries: 3, error: errorOf(key) }] });
    }),
  );
  return asked;
};

const cause = (key: string) => `task load failed after 3 tries: ValueError: no rows of ${key}`;

beforeEach(() => {
  answerPartitions((key) => `ValueError: no rows of ${key}`);
});

const listed = () => {
  const section = screen.getByRole("region", { name: "Failed partitions" });
  return within(section)
    .getAllByRole("listitem")
    .map(({ textContent }) => textContent);
};

test("each partition of a short stretch is a link with its cause; of a long one the first and the last", async () => {
  const questions = answerKeys([1, 2, 3].map(day));
  openFailed(ofFebruary(1, 3), ofFebruary(5, 15));
  expect(await screen.findByRole("link", { name: day(2) })).toBeDefined();
  const short = [1, 2, 3].map((number) => day(number) + cause(day(number)));
  expect(listed()).toEqual([...short, `${day(5)} to ${day(15)} (11)${day(15)}: ${cause(day(15))}`]);
  expect(questions).toEqual([
    {
      select: `2013-02-01T00:00:00-05:00..2013-02-04T00:00:00-05:00 & airport in JFK,"St. John's, NL"`,
      oldest_first: "true",
      limit: "3",
    },
  ]);
});

test("of a stretch without time the keys are those after its first one", async () => {
  const questions = answerKeys(["EWR", "JFK", "LGA", "SFO"]);
  openFailed({ state: "failed", first: "JFK", last: "SFO", count: 3 });
  expect(await screen.findByRole("link", { name: "LGA" })).toBeDefined();
  expect(questions).toEqual([{ select: request.selection, cursor: "JFK", limit: "2" }]);
});

test("a stretch of which the server lists other keys keeps its first and its last", async () => {
  const questions = answerKeys([1, 2].map(day));
  openFailed(ofFebruary(1, 3));
  await waitFor(() => expect(questions).toHaveLength(1));
  await act(() => new Promise((done) => setTimeout(done, 100))); // until the answer is there
  expect(listed()).toEqual([`${day(1)} to ${day(3)} (3)${day(3)}: ${cause(day(3))}`]);
});

test("partitions side by side with the same cause are one line, and what can't be told takes nothing with it", async () => {
  answerKeys([1, 2, 3].map(day));
  answerPartitions(() => "OSError: disk full");
  refuse("get", `/assets/days/partitions/${day(8)}`, 500, {
    title: "The server failed",
    detail: "the state is damaged",
  });
  openFailed(ofFebruary(1, 3), ofFebruary(8, 8));
  expect(await screen.findByRole("link", { name: day(2) })).toBeDefined();
  expect(listed()).toEqual([
    `${day(1)}, ${day(2)}, ${day(3)}task load failed after 3 tries: OSError: disk full`,
    `${day(8)}what made it fail can’t be told: the state is damaged`,
  ]);
});

test("of ten failed partitions the cause is read without a click, and of no more", async () => {
  const asked = answerPartitions((key) => `ValueError: no rows of ${key}`);
  openFailed(...Array.from({ length: 12 }, (_, number) => ofFebruary(number + 1, number + 1)));
  expect(await screen.findByRole("link", { name: day(12) })).toBeDefined();
  const all = Array.from({ length: 12 }, (_, number) => day(number + 1));
  expect(listed()).toEqual(all.map((key, place) => (place < 10 ? key + cause(key) : key)));
  expect(asked.sort()).toEqual(all.slice(0, 10));
});

/** Answers pages of states, of which a few have a failed partition; gives the cursors that were asked for. */
const answerPages = (pages: number, failed: Readonly<Record<number, object>>, count: number) => {
  const cursors: number[] = [];
  answer("/requests/7", { ...request, state: "failed", runs: { failed: count } });
  server.use(
    http.get("*/asset-partitions/api/v1/assets/days/states", ({ request: sent }) => {
      const page = Number(new URL(sent.url).searchParams.get("cursor") ?? 0);
      cursors.push(page);
      const stretches = failed[page] === undefined ? [] : [failed[page]];
      return HttpResponse.json({ asset: "days", now: "", stretches, cursor: page + 1 < pages ? `${page + 1}` : null });
    }),
  );
  open("/7");
  return cursors;
};

test("failed partitions are found behind pages without any, and no more is asked once all are there", async () => {
  const cursors = answerPages(9, { 2: { ...ofFebruary(1, 8), count: 150 } }, 150);
  expect(await screen.findByRole("link", { name: day(8) })).toBeDefined();
  expect(cursors).toEqual([0, 1, 2]);
});

test("where so many pages have no failed partition that no more are read, a link leads to them", async () => {
  const cursors = answerPages(99, {}, 150);
  const link = await screen.findByRole("link", { name: "the picture of all" });
  expect(link).toHaveProperty("search", `?states=failed&select=${encodeURIComponent(request.selection)}`);
  expect(cursors).toHaveLength(30);
});

test("of a request without a failed run no states are asked for", async () => {
  answer("/requests/7", { ...request, state: "done", runs: { success: 2 } });
  open("/7");
  expect(await screen.findByText("2 succeeded")).toBeDefined();
  expect(screen.queryByRole("region", { name: "Failed partitions" })).toBeNull();
});

test("a request that ended meanwhile says why it can't be cancelled", async () => {
  answer("/requests/7", request);
  answer("/assets/days/states", { asset: "days", now: "", stretches: [], cursor: null });
  refuse("post", "/requests/7/cancel", 409, {
    title: "Not ready",
    detail: "request 7 is done, so it can't be cancelled",
  });
  open("/7");
  await userEvent.click(await screen.findByRole("button", { name: "Cancel request" }));
  expect((await screen.findByRole("alert")).textContent).toContain("request 7 is done, so it can't be cancelled");
});

test("what is paused offers to go on, at once", async () => {
  answer("/requests/7", request);
  answer("/assets/days/states", { asset: "days", now: "", stretches: [], cursor: null });
  const bodies = take("/requests/7/pause", () => {
    answer("/requests/7", { ...request, state: "paused" });
    return { ...request, state: "paused" };
  });
  open("/7");
  await userEvent.click(await screen.findByRole("button", { name: "Pause" }));
  expect(await screen.findByRole("button", { name: "Resume" })).toBeDefined();
  expect(bodies).toEqual([{ dry_run: false }]);
});

test("requests are listed by state, and by a part of the asset's name", async () => {
  const questions: URLSearchParams[] = [];
  server.use(
    http.get("*/asset-partitions/api/v1/requests", ({ request: sent }) => {
      questions.push(new URL(sent.url).searchParams);
      return HttpResponse.json({ requests: [request], cursor: null });
    }),
  );
  answer("/assets", { assets: [{ name: "days" }], cursor: null });
  open("?state=running");
  expect(await screen.findByRole("link", { name: "7" })).toBeDefined();
  expect(questions.at(-1)?.getAll("states")).toEqual(["running"]);
  await userEvent.type(screen.getByLabelText("Asset"), "day");
  await waitFor(() => expect(questions.at(-1)?.getAll("asset")).toEqual(["days"]));
  expect(window.location.search).toBe("?state=running&asset=day");
});

test.each([
  ["", "/requests"],
  ["?asset=day", "/assets"],
])("EO7: at requests%s a server that fails at %s is told of, not waited for", async (at, path) => {
  answers("get", `/api/v1${path}`, () => ({ title: "The server failed", detail: "no space left" }), 500);
  open(at);
  expect(await screen.findByText("no space left")).toBeDefined();
  expect(screen.getByRole("button", { name: "Try again" })).toBeDefined();
  answer("/assets", { assets: [{ name: "days" }], cursor: null });
  answer("/requests", { requests: [request], cursor: null });
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByRole("link", { name: "7" })).toBeDefined();
});

test("who may only look at the asset is offered no change of its requests", async () => {
  answer("/assets/days", { ...about, may_change: false });
  answer("/requests/7", request);
  answer("/assets/days/states", { asset: "days", now: "", stretches: [], cursor: null });
  open("/7");
  expect(await screen.findByText("2 queued")).toBeDefined();
  expect(screen.queryByRole("button", { name: /Pause|Cancel/ })).toBeNull();
});
