import { QueryClient } from "@tanstack/react-query";
import { http, HttpResponse, type JsonBodyType } from "msw";

import { server } from "../server";

/** A cache that takes no as an answer. */
export const cache = () => new QueryClient({ defaultOptions: { queries: { retry: false } } });

const REST = "*/asset-partitions/api/v1";

/** Answers GET of a path. */
export const answer = (path: string, body: JsonBodyType) =>
  server.use(http.get(REST + path, () => HttpResponse.json(body)));

/** Answers POST to a path, and keeps the bodies that were sent. */
export const take = (
  path: string,
  reply: (body: Record<string, unknown>) => JsonBodyType,
): Record<string, unknown>[] => {
  const bodies: Record<string, unknown>[] = [];
  server.use(
    http.post(REST + path, async ({ request }) => {
      const body = (await request.json()) as Record<string, unknown>;
      bodies.push(body);
      return HttpResponse.json(reply(body));
    }),
  );
  return bodies;
};

/** Refuses a request with one of the server's problem documents. */
export const refuse = (method: "get" | "post", path: string, status: number, document: Record<string, unknown>) =>
  server.use(http[method](REST + path, () => HttpResponse.json({ status, ...document }, { status })));

/** Answers Airflow's own question for a Dag, which has missed nothing. */
export const dag = (is_paused: boolean) => {
  server.use(http.get("*/api/v2/dags/days", () => HttpResponse.json({ dag_id: "days", is_paused })));
  missed([]);
};

/** Answers what the Dag has missed. */
export const missed = (dags: JsonBodyType[]) => {
  answer("/assets", { assets: [{ name: "days", producers: ["days"], tags: [], counts: null }], cursor: null });
  answer("/assets/days/missed", { asset: "days", dags, dry_run: true });
};

export const step = {
  asset: "days",
  dag_id: "days",
  role: "asked",
  partitions: 2,
  selection: "2013-02-08, 2013-02-09",
  begin: 2,
  begins: "2013-02-08, 2013-02-09",
  stays: "",
  again: 1,
  batch: 1,
  tasks: 2,
  limits: {},
  seconds: 75,
  bytes: 1500,
};

export const plan = { steps: [step], partitions: 2, seconds: 75, bytes: 1500, lacking: {}, asset: "days" };

export const request = {
  id: 7,
  asset: "days",
  dag_id: "days",
  selection: "2013-02-08, 2013-02-09",
  partitions: 2,
  options: { concurrency: 16, newest_first: false, stop_at_failure: false, label: "", conf: {}, while_paused: false },
  at: "2026-11-22T20:00:00+00:00",
  by: "ann",
  created: 2,
  cancelled: null,
  state: "running",
  runs: { queued: 2 },
  dag_is_paused: false,
  problem: null,
};
