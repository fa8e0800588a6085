import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";

import { FailuresPage } from "../../src/failures/FailuresPage";
import { answers } from "../server";
import { shown } from "../shown";

const NOW = "2026-11-05T12:00:00+00:00";
const failure = {
  id: "a1b2",
  error: "ConnectionError: 503 from the source",
  count: 17,
  assets: [
    { asset: "days", count: 14, partitions: "2013-03-01 to 2013-03-14" },
    { asset: "hours", count: 3, partitions: "2013-03-01T00:00Z to 2013-03-01T02:00Z" },
  ],
  tasks: ["days", "hours"],
  since: "2026-11-05T10:00:00+00:00",
  last: "2026-11-05T11:00:00+00:00",
};
const page = { now: NOW, failures: [failure], unread: 2, problems: ["odd: KeyError: 'x'"], cursor: null };

test("failures are grouped by their error, with the assets they are of", async () => {
  answers("get", "/api/v1/failures", () => page);
  shown(<FailuresPage />);
  await screen.findByRole("heading", { name: /17 partitions of 2 assets/ });
  expect(screen.getByText("ConnectionError: 503 from the source")).toBeTruthy();
  expect(screen.getByRole("link", { name: "hours" }).getAttribute("href")).toContain("/assets/hours");
  expect(screen.getByText("odd: KeyError: 'x'")).toBeTruthy();
  expect(screen.getByText(/2 older failed partitions/)).toBeTruthy();
});

test("of a span of time it tells what got worse, too", async () => {
  const spans: (string | null)[] = [];
  answers("get", "/api/v1/failures", (request) => {
    spans.push(new URL(request.url).searchParams.get("since"));
    return { ...page, failures: [], problems: [], unread: 0 };
  });
  answers("get", "/api/v1/changes", () => ({
    now: NOW,
    since: "2026-11-05T04:00:00+00:00",
    cursor: null,
    assets: [
      { asset: "days", failed: null, late: { count: 3, partitions: "some" }, stale: null, missing: null, error: null },
      { asset: "odd", failed: null, late: null, stale: null, missing: null, error: "can't be read" },
    ],
  }));
  shown(<FailuresPage />);
  await screen.findByText("No partition is failed");
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Failed" }), "8h");
  const row = await screen.findByRole("row", { name: /^days/ });
  expect(within(row).getByText("3").getAttribute("title")).toBe("some");
  expect(screen.getByText("can't be read")).toBeTruthy();
  expect(spans).toEqual([null, "8h"]);
});
