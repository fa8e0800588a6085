import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";

import { OverviewPage } from "../../src/assets/OverviewPage";
import { answers } from "../server";
import { shown } from "../shown";
import { answered } from "./listed";

const counts = (asset: string, numbers: Record<string, number>) => ({
  asset,
  now: "2026-03-01T12:00:00Z",
  total: 0,
  counts: numbers,
  provisional: 0,
});

const page = (...assets: ReturnType<typeof answered>[]) => ({ assets, cursor: null });
const address = () => window.location.search;
const rows = () =>
  screen
    .getAllByRole("row")
    .flatMap((row) => within(row).queryAllByRole("cell")[0]?.querySelector("a")?.textContent ?? []);

// What is drawn is what is in view, and there is no view without a layout
beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(800);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1280);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(57); // of a row
});

const shownOverview = (search = "") => {
  window.history.replaceState(null, "", `/plugin/partitions${search}`);
  shown(
    <div data-scroll>
      <OverviewPage />
    </div>,
  );
};

test("what is wrong comes first; each of its numbers, the newest and the next partition are links", async () => {
  answers("get", "/api/v1/assets", () =>
    page(
      answered("fine", { counts: counts("fine", { materialized: 9 }) }),
      answered("s3://lake/days", {
        counts: counts("s3://lake/days", { materialized: 97, failed: 3 }),
        newest: { key: "2026-02-28", state: "failed", counts: {} },
        next: { key: "2026-03-01", due: "2026-03-02T00:00:00+00:00" },
      }),
    ),
  );
  shownOverview();
  await screen.findByRole("heading", { name: "2 partitioned assets" });
  expect(rows()).toEqual(["s3://lake/days", "fine"]);
  const href = (name: string | RegExp) => screen.getByRole("link", { name }).getAttribute("href");
  const days = "/plugin/partitions/assets/s3%3A%2F%2Flake%2Fdays";
  expect(href("3 failed")).toBe(`${days}?states=failed`);
  expect(href(/2026-02-28/)).toBe(`${days}/partitions/2026-02-28`);
  expect(href("2026-03-01")).toBe(`${days}/partitions/2026-03-01`);
  expect(screen.getByText("97 %")).toBeTruthy();
});

test("filters and order go into the address, and come from it", async () => {
  answers("get", "/api/v1/assets", () =>
    page(
      answered("days", { upstream: ["hours"], tags: ["gold"], counts: counts("days", { failed: 1 }) }),
      answered("hours", { owners: ["ann"], counts: counts("hours", { materialized: 1 }) }),
    ),
  );
  shownOverview("?by=graph");
  await screen.findByText("2 assets from hours");
  expect(rows()).toEqual(["hours", "days"]);

  const user = userEvent.setup();
  await user.click(screen.getByRole("button", { name: "1 failed" }));
  expect(address()).toBe("?state=failed&by=graph");
  await waitFor(() => expect(rows()).toEqual(["days"]));
  await user.selectOptions(screen.getByRole("combobox", { name: "Filter by Owner" }), "ann");
  expect(screen.getByText(/None of 2 assets fits/)).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Show all" }));
  expect(address()).toBe("?by=graph");
  await user.type(screen.getByRole("searchbox"), "ho");
  await waitFor(() => expect(rows()).toEqual(["hours"]));
  expect(address()).toBe("?search=ho&by=graph");
});

test("of a thousand assets, asked for once by name and once with counts, only those in view are drawn", async () => {
  const asked = answers("get", "/api/v1/assets", () =>
    page(...Array.from({ length: 1000 }, (_, number) => answered(`asset_${number}`))),
  );
  shownOverview();
  await screen.findByRole("heading", { name: "1,000 partitioned assets" });
  await waitFor(() => expect(rows().length).toBeGreaterThan(0));
  expect(asked.count).toBe(2);
  expect(rows().length).toBeLessThan(60);
});

test("who has no partitioned asset sees how to get one", async () => {
  answers("get", "/api/v1/assets", () => page());
  shownOverview();
  await screen.findByText("No partitioned asset yet");
  expect(screen.getByText(/from airflow_partitions import/)).toBeTruthy();
});

test("without permission the page says so, and shows nothing else", async () => {
  answers("get", "/api/v1/assets", () => ({ title: "Forbidden", status: 403, detail: "You may read no Dag." }), 403);
  shownOverview();
  await screen.findByText("You may read no Dag.");
  expect(screen.queryByRole("searchbox")).toBeNull();
});

test("what Airflow can't run now says why, without a click", async () => {
  const text = "Dag 'days', whose file days.py can't be imported: ModuleNotFoundError: No module named 'lake'";
  const absent = [{ dag_id: "days", cause: "import-error" as const, file: "days.py", text, error: null }];
  answers("get", "/api/v1/assets", () => page(answered("days", { absent })));
  shownOverview();
  expect(await screen.findByText("import error")).toBeTruthy();
  expect(screen.getByText(text)).toBeTruthy();
});
