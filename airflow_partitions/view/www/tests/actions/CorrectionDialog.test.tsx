import { screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { expect, test, vi } from "vitest";

import { CorrectionDialog } from "../../src/actions/CorrectionDialog";
import { Toasts } from "../../src/page/toasts";
import { shown } from "../shown";
import { answer, cache, plan, refuse, take } from "./server";

const forgotten = { asset: "days", count: 2, absent: 0, selection: "2013-02-08, 2013-02-09", dry_run: false };
const marked = { asset: "days", count: 2, present: 0, new: "2013-02-08, 2013-02-09", quiet: false, dry_run: false };

const open = (kind: "mark" | "forget", states: readonly "failed"[] = [], onClose = vi.fn()) =>
  shown(
    <>
      <CorrectionDialog asset="days" kind={kind} partitions={{ selection: "2013-02", states }} open onClose={onClose} />
      <Toasts />
    </>,
    undefined,
    cache(),
  );

test("what would be forgotten is told first; then it is forgotten with its reason, and undo remembers just those", async () => {
  const forgets = take("/assets/days/forget", () => forgotten);
  const remembered = take("/assets/days/remember", () => forgotten);
  const onClose = vi.fn();
  open("forget", [], onClose);
  expect(await screen.findByText("2 partitions would be forgotten")).toBeDefined();
  await userEvent.type(screen.getByLabelText("Reason"), "wrong source");
  await userEvent.click(screen.getByRole("button", { name: "Forget" }));
  await waitFor(() => expect(onClose).toHaveBeenCalled());
  expect(forgets).toEqual([
    { select: "2013-02", reason: "", dry_run: true },
    { select: "2013-02", reason: "wrong source", dry_run: false },
  ]);
  await userEvent.click(await screen.findByRole("button", { name: "Undo" }));
  await waitFor(() => expect(remembered).toEqual([{ select: "2013-02-08, 2013-02-09", dry_run: false }]));
});

test("undo of a mark forgets what was not there before, and nothing else", async () => {
  take("/assets/days/mark", () => ({ ...marked, present: 1, new: "2013-02-09" }));
  const forgets = take("/assets/days/forget", () => forgotten);
  open("mark");
  await screen.findByText("2 partitions would be marked; 1 of them are materialized already, and are again");
  await userEvent.click(screen.getByRole("button", { name: "Mark" }));
  const toast = (await screen.findByText("Marked 2 partitions of days")).closest<HTMLElement>("[data-part=root]");
  await userEvent.click(within(toast ?? document.body).getByRole("button", { name: "Undo" }));
  await waitFor(() => expect(forgets).toEqual([{ select: "2013-02-09", reason: "marked by mistake", dry_run: false }]));
});

test("no undo is offered where nothing has changed", async () => {
  take("/assets/days/mark", () => ({ ...marked, count: 3, present: 3, new: "" }));
  open("mark");
  expect(
    await screen.findByText("3 partitions would be marked; 3 of them are materialized already, and are again"),
  ).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name: "Mark" }));
  const toast = (await screen.findByText("Marked 3 partitions of days")).closest<HTMLElement>("[data-part=root]");
  expect(toast?.textContent).not.toContain("Undo");
});

test("partitions in a state are named one by one, as the server selects them now", async () => {
  answer("/assets/days/plan", plan);
  const bodies = take("/assets/days/forget", () => forgotten);
  open("forget", ["failed"]);
  await screen.findByText("2 partitions would be forgotten");
  expect(bodies[0]).toMatchObject({ select: "2013-02-08, 2013-02-09" });
});

test("what changes nothing can't be done", async () => {
  take("/assets/days/forget", () => ({ ...forgotten, count: 0, absent: 2 }));
  open("forget");
  await screen.findByText("0 partitions would be forgotten; 2 others are missing already");
  expect(screen.getByRole("button", { name: "Forget" })).toHaveProperty("disabled", true);
});

test.each(["mark", "forget"] as const)("%s: a refusal stands in the dialog, in the server's words", async (kind) => {
  refuse("post", `/assets/days/${kind}`, 403, { title: "Forbidden", detail: "You may not start runs" });
  open(kind);
  expect((await screen.findByRole("alert")).textContent).toContain("You may not start runs");
});

test("a selection that can't be read says so at its field", async () => {
  refuse("post", "/assets/days/mark", 422, { type: "urn:airflow-partitions:selection", detail: "'x' selects nothing" });
  open("mark");
  expect(await screen.findByText("'x' selects nothing")).toBeDefined();
  expect(screen.getByLabelText("Partitions").getAttribute("aria-invalid")).toBe("true");
});
