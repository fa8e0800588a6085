import { screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { expect, test } from "vitest";

import { FillButton } from "../../src/actions/FillDialog";
import type { Stretch } from "../../src/actions/partitions";
import { shown } from "../shown";
import { answer, cache, plan, refuse, request, step, take } from "./server";

const stretch: Stretch = {
  assets: ["hours", "days"],
  since: "2013-02-08T00:00:00Z",
  until: "2013-02-10T00:00:00Z",
};

const filled = {
  start: stretch.since,
  end: stretch.until,
  plan: { ...plan, steps: [{ ...step, asset: "hours", dag_id: "hours", partitions: 5 }, step] },
  left_out: [],
  requests: [],
  notes: [],
  dry_run: true,
};

const open = async (of = stretch) => {
  shown(<FillButton stretch={of}>Fill</FillButton>, undefined, cache());
  await userEvent.click(screen.getByRole("button", { name: "Fill" }));
};

test("assets are filled by one plan: what is asked for, and then how far it has come", async () => {
  const bodies = take("/fill", ({ dry_run: tried }) => ({
    ...filled,
    dry_run: tried === true,
    requests: tried === true ? [] : [request],
  }));
  answer("/requests/7", request);
  answer("/assets/days", { name: "days", may_change: true, definition: { kind: "interval" } });
  await open();
  await userEvent.click(await screen.findByRole("button", { name: "Materialize 7 partitions" }));
  expect(await screen.findByText("Asked for 7 partitions.")).toBeDefined();
  expect(await screen.findByText("2 queued")).toBeDefined();
  expect(bodies.map(({ dry_run: tried }) => tried)).toEqual([true, false]);
  expect(bodies.at(-1)).toMatchObject({ asset: ["hours", "days"], states: ["missing", "failed", "waiting"] });
  expect(bodies.at(-1)).toMatchObject({ since: stretch.since, until: stretch.until, while_paused: false });
});

test("one chooses the states, and paused Dags; what is left out says why", async () => {
  const bodies = take("/fill", ({ while_paused: paused }) => ({
    ...filled,
    left_out: paused === true ? [] : [{ asset: "days", why: "Dag days is paused" }],
  }));
  await open({ ...stretch, until: null });
  expect(await screen.findByText(/Dag days is paused/)).toBeDefined();
  expect(screen.getByText(/from 2013-02-08.* to now/)).toBeDefined();
  await userEvent.click(screen.getByLabelText(/waiting/));
  await waitFor(() => expect(bodies.at(-1)?.states).toEqual(["missing", "failed"]));
  expect(bodies.at(-1)?.until).toBeNull();
  await userEvent.click(screen.getByLabelText(/Also of Dags that are paused/));
  await waitFor(() => expect(bodies.at(-1)?.while_paused).toBe(true));
  await waitFor(() => expect(screen.queryByText(/Dag days is paused/)).toBeNull());
});

test("where nothing is missing the server's words are told, and nothing can be asked for", async () => {
  refuse("post", "/fill", 422, { title: "Nothing", detail: "of 2 assets none has a partition" });
  await open();
  expect(await screen.findByText(/of 2 assets none has a partition/)).toBeDefined();
  expect(screen.getByRole("button", { name: "Materialize" })).toHaveProperty("disabled", true);
});
