import { screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { beforeEach, expect, test } from "vitest";

import { PausedDags } from "../../src/actions/PausedDags";
import { UnpauseButton } from "../../src/actions/UnpauseButton";
import { server } from "../server";
import { shown } from "../shown";
import { cache, dag, missed, plan, refuse, request, take } from "./server";

const MISSED = { dag_id: "days", count: 12, more: false, partitions: "2013-03-01..2013-03-13" };

let deeds: string[] = [];

beforeEach(() => {
  deeds = [];
  dag(true);
  missed([MISSED]);
  server.use(
    http.patch("*/api/v2/dags/days", () => {
      deeds.push("unpause");
      return HttpResponse.json({ dag_id: "days", is_paused: false });
    }),
  );
  take("/assets/days/missed/skip", () => {
    deeds.push("skip");
    return { asset: "days", dags: [MISSED], dry_run: false };
  });
});

const asks = () =>
  take("/assets/days/requests", ({ dry_run }) => {
    deeds.push(dry_run === true ? "try" : "ask");
    return { asset: "days", plan, requests: dry_run === true ? [] : [request], dry_run: dry_run === true };
  });

const open = async () => {
  shown(<UnpauseButton dag="days" />, undefined, cache());
  await userEvent.click(screen.getByRole("button", { name: "Unpause: days" }));
  await screen.findByText(/^Once it is unpaused, 12 partitions of days follow/);
  expect(deeds).toEqual([]);
};

test("before a Dag is unpaused that has missed events, it is said how many partitions follow", async () => {
  shown(<PausedDags dags={["days"]} />, undefined, cache());
  expect(await screen.findByText(/Then 12 partitions of days follow/)).toBeDefined();
});

test("all may follow", async () => {
  await open();
  await userEvent.click(screen.getByRole("button", { name: "Unpause: 12 partitions follow" }));
  await waitFor(() => expect(deeds).toEqual(["unpause"]));
});

test("all may be skipped, before it is unpaused", async () => {
  await open();
  await userEvent.click(screen.getByText("Skip all of them"));
  await userEvent.click(screen.getByRole("button", { name: "Skip and unpause" }));
  await waitFor(() => expect(deeds).toEqual(["skip", "unpause"]));
});

test("some may be asked for, so many at a time, once that was tried", async () => {
  const bodies = asks();
  await open();
  await userEvent.click(screen.getByText("Ask for them in portions, and skip the others"));
  await userEvent.clear(screen.getByLabelText("Partitions"));
  await userEvent.type(screen.getByLabelText("Partitions"), "2013-03-10..2013-03-13");
  await userEvent.clear(screen.getByLabelText("Runs at a time, at most"));
  await userEvent.type(screen.getByLabelText("Runs at a time, at most"), "2");
  await userEvent.click(screen.getByRole("button", { name: "Unpause and ask" }));
  await waitFor(() => expect(deeds).toEqual(["try", "skip", "unpause", "ask"]));
  expect(bodies.at(-1)).toMatchObject({ select: "2013-03-10..2013-03-13", concurrency: 2, while_paused: false });
});

test("what can't be asked for is told at its field, and nothing is skipped", async () => {
  refuse("post", "/assets/days/requests", 422, { type: "urn:airflow-partitions:selection", detail: "no such key" });
  await open();
  await userEvent.click(screen.getByText("Ask for them in portions, and skip the others"));
  await userEvent.click(screen.getByRole("button", { name: "Unpause and ask" }));
  expect(await screen.findByText("no such key")).toBeDefined();
  expect(deeds).toEqual([]);
});
