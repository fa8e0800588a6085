import { screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";

import { KeysDialog } from "../../src/actions/KeysDialog";
import { shown } from "../shown";
import { answer, cache, dag, plan, refuse, request, step, take } from "./server";

beforeEach(() => {
  answer("/assets/days", { name: "days", may_change: true, paused: [], example: null });
  answer("/requests/7", request);
  dag(false);
});

const open = () => shown(<KeysDialog asset="days" first="" open onClose={vi.fn()} />, undefined, cache());

const paste = async (text: string) => {
  await userEvent.click(await screen.findByLabelText("Partitions"));
  await userEvent.paste(text);
};

test("pasted keys are planned with what follows, and exactly these are asked for", async () => {
  const follow = { ...step, asset: "report", dag_id: "report", role: "downstream", partitions: 3, begin: 0 };
  const bodies = take("/assets/days/requests", ({ dry_run }) => ({
    asset: "days",
    plan: { ...plan, steps: [step, follow] },
    requests: dry_run === true ? [] : [request],
    dry_run: dry_run === true,
  }));
  open();
  await paste("2013-02-08\n# not this\n2013-02-09\n");
  expect(screen.getByText("2 keys: each line is one")).toBeDefined();
  await userEvent.click(screen.getByRole("button", { name: "Materialize…" }));
  expect((await screen.findByRole("region", { name: "Plan" })).textContent).toContain(
    "2 partitions; 3 more follow by events",
  );
  await userEvent.click(screen.getByRole("button", { name: "Materialize 2 partitions" }));
  await screen.findByText("Asked for 2 partitions.");
  expect(bodies.map(({ keys, dry_run, downstream }) => [keys, dry_run, downstream])).toEqual([
    [["2013-02-08", "2013-02-09"], true, true],
    [["2013-02-08", "2013-02-09"], false, false],
  ]);
});

test("what is no key is told with its line, at the field", async () => {
  refuse("post", "/assets/days/mark", 422, {
    type: "urn:airflow-partitions:invalid-key",
    detail: "keys[1]: 'x' is not a partition of days; expected a key such as '2013-01-01'",
  });
  open();
  await paste("2013-02-08\n\nx");
  await userEvent.click(screen.getByRole("button", { name: "Mark…" }));
  expect(
    await screen.findByText("line 3: 'x' is not a partition of days; expected a key such as '2013-01-01'"),
  ).toBeDefined();
  expect(screen.getByRole("button", { name: "Mark" })).toHaveProperty("disabled", true);
});

test("a listed key that can't be text is told with its line, too", async () => {
  refuse("post", "/assets/days/forget", 422, {
    type: "urn:airflow-partitions:invalid-request",
    mistakes: [{ field: "body.keys.1", detail: "String should have at most 2000 characters" }],
  });
  open();
  await paste("2013-02-08\nxxx");
  await userEvent.click(screen.getByRole("button", { name: "Forget…" }));
  await waitFor(() => expect(screen.getByText("line 2: String should have at most 2000 characters")).toBeDefined());
});
