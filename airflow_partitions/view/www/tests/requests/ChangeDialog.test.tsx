import { screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { Route, Routes } from "react-router-dom";
import { beforeEach, expect, test } from "vitest";

import { RequestPage } from "../../src/requests/RequestPage";
import { RequestsPage } from "../../src/requests/RequestsPage";
import { answer, cache, refuse, request, take } from "../actions/server";
import { shown } from "../shown";

const done = { ...request, id: 8, state: "done", runs: { success: 2 } };
const foreign = { ...done, id: 9, asset: "secrets" };
const asset = { name: "days", may_change: true, definition: { kind: "interval" }, tags: [], counts: null };

const open = (at = "") =>
  shown(
    <Routes>
      <Route path="/plugin/partitions/requests" element={<RequestsPage />} />
      <Route path="/plugin/partitions/requests/:request" element={<RequestPage />} />
    </Routes>,
    `/plugin/partitions/requests${at}`,
    cache(),
  );

beforeEach(() => {
  answer("/assets", { assets: [asset, { ...asset, name: "secrets", may_change: false }], cursor: null });
  answer("/assets/days", asset);
  answer("/assets/days/states", { asset: "days", now: "", stretches: [], cursor: null });
  answer("/requests", { requests: [request, done, foreign], cursor: null });
});

test("of several requests those that can be are deleted after a question, and the others say why not", async () => {
  const reason = "request 7 is running, so it can't be deleted; cancel it first";
  refuse("post", "/requests/7/delete", 409, { title: "Not ready", detail: reason });
  const bodies = take("/requests/8/delete", () => done);
  open();
  await userEvent.click(await screen.findByLabelText("Choose all requests"));
  expect(screen.queryByLabelText("Choose request 9")).toBeNull(); // whose asset one may only look at
  await userEvent.click(screen.getByRole("button", { name: "Delete (2)…" }));
  const dialog = await screen.findByRole("dialog");
  await waitFor(() => expect(dialog.textContent).toContain(reason));
  expect(bodies).toEqual([{ dry_run: true }]);
  await userEvent.click(screen.getByRole("button", { name: "Delete 1 request" }));
  await waitFor(() => expect(bodies).toEqual([{ dry_run: true }, { dry_run: false }]));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(screen.getByText("None chosen")).toBeDefined();
});

test("only what can be done with some of the chosen is offered", async () => {
  const bodies = take("/requests/7/pause", () => ({ ...request, state: "paused" }));
  open();
  await userEvent.click(await screen.findByLabelText("Choose request 7"));
  expect(screen.getByRole("button", { name: "Resume…" })).toHaveProperty("disabled", true);
  await userEvent.click(screen.getByRole("button", { name: "Pause (1)…" }));
  await userEvent.click(await screen.findByRole("button", { name: "Pause 1 request" }));
  await waitFor(() => expect(bodies).toEqual([{ dry_run: true }, { dry_run: false }]));
});

test("a request is deleted on its page, which leads back to the list", async () => {
  answer("/requests/8", done);
  take("/requests/8/delete", () => done);
  open("/8");
  await userEvent.click(await screen.findByRole("button", { name: "Delete…" }));
  await userEvent.click(await screen.findByRole("button", { name: "Delete 1 request" }));
  await waitFor(() => expect(screen.getByTestId("address").textContent).toBe("/plugin/partitions/requests"));
});

test("a request that can't be deleted says why", async () => {
  const detail = "request 7 is running, so it can't be deleted; cancel it first";
  answer("/requests/7", request);
  refuse("post", "/requests/7/delete", 409, { title: "Not ready", detail });
  open("/7");
  await userEvent.click(await screen.findByRole("button", { name: "Delete…" }));
  expect((await screen.findByRole("alert")).textContent).toContain(detail);
  expect(screen.getByRole("button", { name: "Delete none" })).toHaveProperty("disabled", true);
});
