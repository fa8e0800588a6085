import { screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { beforeEach, expect, test, vi } from "vitest";

import { MaterializeDialog } from "../../src/actions/MaterializeDialog";
import { server } from "../server";
import { shown } from "../shown";
import { answer, cache, dag, plan, refuse, request, step, take } from "./server";

const open = (states: readonly "failed"[] = []) =>
  shown(
    <MaterializeDialog asset="days" partitions={{ selection: "2013-02", states }} open onClose={vi.fn()} />,
    undefined,
    cache(),
  );

const go = () => screen.findByRole("button", { name: "Materialize 2 partitions" });

beforeEach(() => {
  answer("/assets/days/plan", plan);
  answer("/requests/7", request);
  answer("/assets/days", { name: "days", may_change: true });
  dag(false);
});

test("the plan says what, in which order and how many, before anything is asked for", async () => {
  const follow = {
    ...step,
    asset: "report",
    dag_id: "report",
    role: "downstream",
    partitions: 3,
    begin: 0,
    stays: "2013-02-10",
  };
  answer("/assets/days/plan", { ...plan, steps: [step, follow], partitions: 5, lacking: { raw: "2013-02-07" } });
  open();
  const section = await screen.findByRole("region", { name: "Plan" });
  expect(section.textContent).toContain("2 partitions; 3 more follow by events");
  expect(section.textContent).toContain("1 min 15 s, 1.5 kB");
  expect(section.textContent).toContain("1 of them again");
  expect(section.textContent).toContain("stay stale, as nothing makes them again: 2013-02-10");
  expect(section.textContent).toContain("raw: 2013-02-07");
});

test("all options of the REST are sent, and the progress stands in the dialog", async () => {
  const bodies = take("/assets/days/requests", () => ({ asset: "days", plan, requests: [request], dry_run: false }));
  const user = userEvent.setup();
  open(["failed"]);
  await user.click(await screen.findByLabelText("Make what is missing upstream first"));
  await user.click(screen.getByText("Options of the runs"));
  await user.clear(screen.getByLabelText("Runs at a time, at most"));
  await user.type(screen.getByLabelText("Runs at a time, at most"), "4");
  await user.click(screen.getByLabelText("Begin with the newest partition"));
  await user.click(screen.getByLabelText("Stop at the first failure"));
  await user.type(screen.getByLabelText("Label"), "after the outage");
  await user.click(screen.getByLabelText("Configuration (JSON)"));
  await user.paste('{"limit": 10}');
  await user.click(await go());
  expect(await screen.findByRole("link", { name: "Request 7" })).toHaveProperty(
    "pathname",
    "/plugin/partitions/requests/7",
  );
  expect(screen.getByText("2 queued")).toBeDefined();
  expect(bodies).toEqual([
    {
      select: "2013-02",
      states: ["failed"],
      upstream: true,
      downstream: false,
      concurrency: 4,
      newest_first: true,
      stop_at_failure: true,
      label: "after the outage",
      conf: { limit: 10 },
      while_paused: false,
      dry_run: false,
    },
  ]);
});

test.each([
  ["{", "This is no JSON"],
  ["[1]", "This is JSON, but no object"],
])("a configuration %s is refused at its field, and nothing is sent", async (text, mistake) => {
  const user = userEvent.setup();
  open();
  await go();
  await user.click(screen.getByText("Options of the runs"));
  const field = screen.getByLabelText("Configuration (JSON)");
  await user.click(field);
  await user.paste(text);
  expect(await screen.findByText(new RegExp(mistake))).toBeDefined();
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByRole("button", { name: "Materialize 2 partitions" })).toHaveProperty("disabled", true);
});

test("an overlap leads to the request that is in the way", async () => {
  refuse("post", "/assets/days/requests", 409, {
    type: "urn:airflow-partitions:overlap",
    title: "Overlap",
    detail: "request 3 asks for 2013-02-08 already",
    request: 3,
  });
  open();
  await userEvent.click(await go());
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("request 3 asks for 2013-02-08 already");
  expect(within(alert).getByRole("link", { name: "See request 3" })).toHaveProperty(
    "pathname",
    "/plugin/partitions/requests/3",
  );
});

test("who may not is told so, in the server's words", async () => {
  refuse("post", "/assets/days/requests", 403, {
    title: "Forbidden",
    detail: "You may not start runs of each of the Dags",
  });
  open();
  await userEvent.click(await go());
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("You may not do this");
  expect(alert.textContent).toContain("You may not start runs of each of the Dags");
});

test.each([
  ["selection", "no key of days"],
  ["request-size", "200,000 partitions are selected; ask for them in 2 parts"],
])("a selection that is refused as %s says so at its field", async (kind, detail) => {
  refuse("get", "/assets/days/plan", 422, { type: `urn:airflow-partitions:${kind}`, title: "Refused", detail });
  open();
  expect(await screen.findByText(detail)).toBeDefined();
  expect(screen.getByLabelText("Partitions").getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByRole("button", { name: "Materialize" })).toHaveProperty("disabled", true);
  expect(screen.queryByRole("alert")).toBeNull();
});

test("a mistake in the body stands at its field", async () => {
  refuse("post", "/assets/days/requests", 422, {
    title: "Invalid request",
    detail: "body.concurrency: too great",
    mistakes: [{ field: "body.concurrency", detail: "too great" }],
  });
  open();
  await userEvent.click(await go());
  expect(await screen.findByText("too great")).toBeDefined();
  expect(screen.getByLabelText("Runs at a time, at most").getAttribute("aria-invalid")).toBe("true");
});

test("a server that is away keeps what was entered", async () => {
  server.use(http.post("*/asset-partitions/api/v1/assets/days/requests", () => HttpResponse.error()));
  open();
  await userEvent.click(await go());
  expect((await screen.findByRole("alert")).textContent).toContain("What you entered is kept");
  expect(screen.getByLabelText("Partitions")).toHaveProperty("value", "2013-02");
});

test("a paused Dag is said before one asks, and can be unpaused", async () => {
  dag(true);
  const unpaused = vi.fn();
  server.use(
    http.patch("*/api/v2/dags/days", async ({ request: sent }) => {
      unpaused(await sent.json());
      dag(false);
      return HttpResponse.json({ dag_id: "days", is_paused: false });
    }),
  );
  open();
  const unpause = await screen.findByRole("button", { name: "Unpause: days" });
  expect(await go()).toHaveProperty("disabled", true);
  await userEvent.click(unpause);
  expect(unpaused).toHaveBeenCalledWith({ is_paused: false });
  await waitFor(() => expect(screen.queryByRole("button", { name: "Unpause: days" })).toBeNull());
});

test("what is asked for can be made while the Dag is paused", async () => {
  dag(true);
  const bodies = take("/assets/days/requests", () => ({ asset: "days", plan, requests: [request], dry_run: false }));
  open();
  const tick = await screen.findByLabelText(/^Make these while it is paused/);
  expect(screen.getByText("No run of it begins until it is unpaused.")).toBeDefined();
  await userEvent.click(tick);
  expect(screen.queryByText("No run of it begins until it is unpaused.")).toBeNull();
  expect(screen.getByText("It makes these partitions, and nothing else begins.")).toBeDefined();
  expect(await go()).toHaveProperty("disabled", false);
  await userEvent.click(await go());
  await screen.findByRole("link", { name: "Request 7" });
  expect(bodies).toMatchObject([{ while_paused: true }]);
});

test("where a paused Dag is why there is no plan, unpausing it gives one", async () => {
  answer("/assets/days", { name: "days", may_change: true, paused: ["days"] });
  refuse("get", "/assets/days/plan", 409, { title: "Not ready", detail: "Dag days is paused" });
  dag(true);
  server.use(
    http.patch("*/api/v2/dags/days", () => {
      dag(false);
      answer("/assets/days/plan", plan);
      return HttpResponse.json({ dag_id: "days", is_paused: false });
    }),
  );
  open();
  expect(await screen.findByText("Dag days is paused")).toBeDefined();
  await userEvent.click(await screen.findByRole("button", { name: "Unpause: days" }));
  expect(await go()).toBeDefined();
});

test("each field has a label, and the keyboard stays in the dialog", async () => {
  const user = userEvent.setup();
  shown(
    <>
      <button type="button">outside</button>
      <MaterializeDialog asset="days" partitions={{ selection: "2013-02" }} open onClose={vi.fn()} />
    </>,
  );
  await go();
  const dialog = screen.getByRole("dialog", { name: "Materialize partitions of days" });
  for (const field of within(dialog).getAllByRole("textbox")) expect(field).toHaveProperty("labels.length", 1);
  for (let presses = 0; presses < 30; presses += 1) {
    await user.tab();
    expect(dialog.contains(document.activeElement)).toBe(true);
  }
});
