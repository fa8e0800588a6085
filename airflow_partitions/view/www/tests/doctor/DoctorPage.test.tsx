import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { delay, http } from "msw";
import { beforeEach, expect, test } from "vitest";

import { DoctorPage } from "../../src/doctor/DoctorPage";
import type { Problem, Remedy } from "../../src/doctor/problem";
import { answers, server } from "../server";
import { missed } from "../actions/server";
import { shown } from "../shown";

const remedy = (kind: Remedy["kind"], own: Partial<Remedy> = {}): Remedy => ({
  kind,
  select: null,
  command: null,
  ...own,
});

const problem = (kind: Problem["kind"], own: Partial<Problem> = {}): Problem => ({
  kind,
  text: `about ${kind}`,
  is_error: false,
  dag_id: null,
  asset: null,
  request: null,
  remedy: null,
  ...own,
});

let problems: readonly Problem[];
let complete: boolean;

beforeEach(() => {
  problems = [];
  complete = true;
  answers("get", "/api/v1/upkeep", () => ({ alive: false }));
  answers("get", "/api/v1/doctor", () => ({ problems: [...problems], complete }));
});

test("where all is well it says so, and whether that is all there is", async () => {
  complete = false;
  shown(<DoctorPage />);
  await screen.findByText("Nothing is stuck, as far as you may see");
  expect(screen.getByText("upkeep does not run")).toBeTruthy();
});

test("all records are looked at where one asks for it", async () => {
  const asked = answers("get", "/api/v1/doctor", (request) => ({
    problems: new URL(request.url).searchParams.get("records") === "true" ? [problem("orphans")] : [],
    complete,
  }));
  shown(<DoctorPage />);
  await screen.findByText("Nothing is stuck");
  await userEvent.click(screen.getByRole("button", { name: "Look at all records, too" }));
  await screen.findByText("about orphans");
  expect(asked.count).toBe(2);
});

beforeEach(() => missed([]));

test.each([
  [
    problem("paused-dag", { dag_id: "days", remedy: remedy("unpause-dag") }),
    "Unpause: days",
    "patch",
    "/api/v2/dags/days",
  ],
  [
    problem("cell", { asset: "s3://lake/a", remedy: remedy("reconcile") }),
    "Reconcile: s3://lake/a",
    "post",
    "/api/v1/assets/s3%3A%2F%2Flake%2Fa/reconcile",
  ],
  [
    problem("request-failed", { request: 12, remedy: remedy("retry-request") }),
    "Re-run failed: request 12",
    "post",
    "/api/v1/requests/12/retry",
  ],
  [
    problem("request-stopped", { request: 12, remedy: remedy("resume-request") }),
    "Resume: request 12",
    "post",
    "/api/v1/requests/12/resume",
  ],
] as const)("%o is mended by a button, and leaves the list", async (one, button, method, path) => {
  problems = [one];
  const asked = answers(method, path, () => {
    problems = [];
    return { dag_id: "days" };
  });
  shown(<DoctorPage />);
  await userEvent.click(await screen.findByRole("button", { name: button }));
  await screen.findByText("Nothing is stuck");
  expect(asked.count).toBe(1);
});

test("a remedy that is refused says why, and the line stays", async () => {
  problems = [problem("paused-dag", { dag_id: "days", remedy: remedy("unpause-dag") })];
  answers("patch", "/api/v2/dags/days", () => ({ detail: "Not yours" }), 403);
  shown(<DoctorPage />);
  await userEvent.click(await screen.findByRole("button", { name: "Unpause: days" }));
  await screen.findByText("Not yours");
  expect(screen.getByRole("button", { name: "Unpause: days" })).toBeTruthy();
});

test("what is mended leaves the list at once, also while the doctor still looks again", async () => {
  problems = [problem("paused-dag", { dag_id: "days", remedy: remedy("unpause-dag") }), problem("graph")];
  answers("patch", "/api/v2/dags/days", () => ({ dag_id: "days" }));
  shown(<DoctorPage />);
  const button = await screen.findByRole("button", { name: "Unpause: days" });
  server.use(http.get("*/api/v1/doctor", () => delay("infinite")));
  await userEvent.click(button);
  await waitFor(() => expect(screen.queryByText("about paused-dag")).toBeNull());
  expect(screen.getByText("about graph")).toBeTruthy();
});

test("each problem leads to what it is about; without a remedy there is no button", async () => {
  problems = [problem("request-failed", { request: 12, asset: "a/b", dag_id: "days" }), problem("graph")];
  shown(<DoctorPage />);
  await screen.findByText("about graph");
  expect(screen.getAllByRole("link").map((link) => link.getAttribute("href"))).toEqual([
    "/plugin/partitions/requests/12",
    "/plugin/partitions/assets/a%2Fb",
    "/dags/days",
  ]);
  expect(screen.queryByRole("button", { name: /:/ })).toBeNull();
  const headings = screen.getAllByRole("heading", { level: 2 }).map(({ textContent }) => textContent);
  expect(headings).toEqual(["Dags that can’t work 1", "Failed requests 1"]);
});

test("what only a shell mends comes as a command to copy", async () => {
  const command = "airflow asset-partitions upkeep --loop";
  problems = [problem("no-upkeep", { remedy: remedy("command", { command }) })];
  shown(<DoctorPage />);
  await screen.findByText(command);
  await waitFor(() => expect(screen.getByRole("button", { name: /Copy/ })).toBeTruthy());
});
