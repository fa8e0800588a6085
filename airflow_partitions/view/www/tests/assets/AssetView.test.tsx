import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { beforeEach, expect, test, vi } from "vitest";

import { AssetView } from "../../src/assets/AssetView";
import { queryClient } from "../../src/page/queries";
import { server } from "../server";
import { shown } from "../shown";
import { details } from "./listed";

const DAY = 86_400_000;
const first = Date.parse("2013-01-01T00:00:00Z");
const dayOf = (i: number) => new Date(first + i * DAY).toISOString().slice(0, 10);
const WIDTH = 480;

const about = details("days", {
  definition: {
    kind: "interval",
    text: "",
    timezone: "UTC",
    dimensions: [{ name: "date", kind: "interval", count: null }],
    first: dayOf(0),
    last: dayOf(9),
    count: 10,
    form: {},
  },
});

/** Ten days, of which the ninth failed. */
const grid = {
  asset: "days",
  version: "1",
  now: "2013-02-01T00:00:00Z",
  timezone: "UTC",
  across: "date",
  down: null,
  start: `${dayOf(0)}T00:00:00Z`,
  end: `${dayOf(10)}T00:00:00Z`,
  unit: "interval",
  extent: {
    first: dayOf(0),
    last: dayOf(9),
    start: `${dayOf(0)}T00:00:00+00:00`,
    end: `${dayOf(10)}T00:00:00+00:00`,
    count: 10,
  },
  columns: Array.from({ length: 10 }, (_, i) => ({
    first: dayOf(i),
    last: dayOf(i),
    count: 1,
    start: `${dayOf(i)}T00:00:00+00:00`,
    end: `${dayOf(i + 1)}T00:00:00+00:00`,
  })),
  cells: [{ states: { materialized: 1 } }, { states: { failed: 1 } }],
  rows: [
    {
      value: null,
      runs: [
        [8, 0],
        [1, 1],
        [1, 0],
      ],
    },
  ],
  row_count: 1,
  row_cursor: null,
  counts: { materialized: 9, failed: 1 },
  total: 10,
  provisional: 0,
};

/** The selections of which the server was asked for the numbers. */
let counted: string[] = [];

/** The keys of the partitions of which it was asked why. */
let explained: string[] = [];

beforeEach(() => {
  counted = [];
  explained = [];
  window.history.replaceState(null, "", "/plugin/partitions/assets/days");
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(WIDTH);
  vi.spyOn(HTMLElement.prototype, "setPointerCapture").mockReturnValue();
  const rest = "*/asset-partitions/api/v1/assets/days";
  server.use(
    http.get(rest, () => HttpResponse.json(about)),
    http.get(`${rest}/materializations`, () => HttpResponse.json({ asset: "days", materializations: [] })),
    http.get(`${rest}/grid`, () => HttpResponse.json(grid)),
    http.get(`${rest}/states`, () => HttpResponse.json({ asset: "days", now: grid.now, stretches: [], cursor: null })),
    http.get(`${rest}/partitions/:key`, ({ params }) => {
      explained.push(String(params.key));
      return HttpResponse.json({
        reasons: [`run days_${String(params.key)} raised ValueError`, "it waits for nothing"],
      });
    }),
    http.get(`${rest}/counts`, ({ request }) => {
      const select = new URL(request.url).searchParams.get("select") ?? "";
      counted.push(select);
      return select === "nowhere"
        ? HttpResponse.json({ title: "Bad selection", status: 422, detail: "nowhere is no key" }, { status: 422 })
        : HttpResponse.json({
            asset: "days",
            now: grid.now,
            total: 2,
            counts: { materialized: 1, failed: 1 },
            provisional: 0,
            selection: select === "latest" ? dayOf(9) : select,
          });
    }),
  );
});

/** The picture, when it is there: each of its ten days is 48 pixels wide. */
const picture = () => screen.findByRole("application", { name: "Partitions of days" });
const text = () => screen.getByRole<HTMLInputElement>("textbox", { name: "Selected partitions, as text" }).value;
const parameter = (name: string) => new URLSearchParams(window.location.search).get(name);

test("cells that are dragged over are selected, as text, in the address and in numbers", async () => {
  shown(<AssetView asset="days" />);
  const cells = await picture();
  fireEvent.pointerDown(cells, { button: 0, pointerId: 1, clientX: 7 * 48 + 5, clientY: 10 });
  fireEvent.pointerMove(cells, { pointerId: 1, clientX: 8 * 48 + 5, clientY: 10 });
  fireEvent.pointerUp(cells, { pointerId: 1, clientX: 8 * 48 + 5, clientY: 10 });
  await waitFor(() => expect(text()).toBe("2013-01-08..2013-01-10"));
  expect(parameter("select")).toBe("2013-01-08..2013-01-10");
  expect(await screen.findByText("2 partitions selected")).toBeTruthy();
  expect(counted).toContain("2013-01-08..2013-01-10");
});

test("with keys one goes to a cell, hears what it is, selects from there, and none again", async () => {
  shown(<AssetView asset="days" />);
  const cells = await picture();
  cells.focus();
  for (const key of ["ArrowLeft", "ArrowLeft"]) fireEvent.keyDown(cells, { key });
  expect(await screen.findByText("2013-01-08, 1 materialized, 2013-01-08 to 2013-01-09")).toBeTruthy();
  fireEvent.keyDown(cells, { key: "ArrowRight", shiftKey: true });
  await waitFor(() => expect(text()).toBe("2013-01-08..2013-01-10"));
  fireEvent.keyDown(cells, { key: " " });
  await waitFor(() => expect(text()).toBe("2013-01-08"));
  fireEvent.keyDown(cells, { key: "a", ctrlKey: true });
  await waitFor(() => expect(text()).toBe("2013-01-01..2013-01-11"));
  fireEvent.keyDown(cells, { key: "Escape" });
  await waitFor(() => expect(text()).toBe(""));
});

test("who stays on a cell is told why it is so; who passes by asks nothing", async () => {
  shown(<AssetView asset="days" />);
  const cells = await picture();
  for (const day of [2, 3, 4, 8])
    fireEvent.pointerMove(cells, { pointerId: 1, pointerType: "mouse", clientX: day * 48 + 5, clientY: 10 });
  expect(await screen.findByText("run days_2013-01-09 raised ValueError")).toBeTruthy();
  expect(screen.getByText("it waits for nothing")).toBeTruthy();
  expect(explained).toEqual(["2013-01-09"]);
});

test("a click opens the partition of the cell", async () => {
  shown(<AssetView asset="days" />);
  const cells = await picture();
  fireEvent.pointerDown(cells, { button: 0, pointerId: 1, clientX: 8 * 48 + 5, clientY: 10 });
  fireEvent.pointerUp(cells, { pointerId: 1, clientX: 8 * 48 + 5, clientY: 10 });
  expect(screen.getByTestId("address").textContent).toBe("/plugin/partitions/assets/days/partitions/2013-01-09");
});

test("a click with Control adds a cell, and takes it away again", async () => {
  shown(<AssetView asset="days" />);
  const cells = await picture();
  const click = (day: number) => {
    fireEvent.pointerDown(cells, { button: 0, pointerId: 1, clientX: day * 48 + 5, clientY: 10 });
    fireEvent.pointerUp(cells, { pointerId: 1, ctrlKey: true, clientX: day * 48 + 5, clientY: 10 });
  };
  click(0);
  click(4);
  await waitFor(() => expect(text()).toBe("2013-01-01, 2013-01-05"));
  click(0);
  await waitFor(() => expect(text()).toBe("2013-01-05"));
});

test("what only the server can read of a typed selection is painted, and goes on from there", async () => {
  window.history.replaceState(null, "", "?select=latest");
  shown(<AssetView asset="days" />);
  const cells = await picture();
  await screen.findByText("2 partitions selected");
  fireEvent.pointerDown(cells, { button: 0, pointerId: 1, clientX: 5, clientY: 10 });
  fireEvent.pointerUp(cells, { pointerId: 1, ctrlKey: true, clientX: 5, clientY: 10 });
  await waitFor(() => expect(text()).toBe("2013-01-01, 2013-01-10"));
});

test("what is refused of a typed selection stands at the field", async () => {
  const user = userEvent.setup();
  shown(<AssetView asset="days" />);
  await picture();
  await user.type(screen.getByRole("textbox", { name: "Selected partitions, as text" }), "nowhere{Enter}");
  expect(await screen.findByText("nowhere is no key", {}, { timeout: 5000 })).toBeTruthy();
  expect(screen.getByRole("textbox", { name: "Selected partitions, as text" }).getAttribute("aria-invalid")).toBe(
    "true",
  );
});

test("a click on a number shows one state, and all of it in view is one click away", async () => {
  const user = userEvent.setup();
  shown(<AssetView asset="days" />);
  await picture();
  await user.click(await screen.findByRole("button", { name: "1 failed" }));
  expect(parameter("states")).toBe("failed");
  await user.click(screen.getByRole("button", { name: "Select failed in view" }));
  await waitFor(() => expect(text()).toBe("2013-01-01..2013-01-11"));
  expect(await screen.findByText("1 partition selected")).toBeTruthy();
});

test("an address shows what it showed before", async () => {
  window.history.replaceState(null, "", "?select=2013-01-02&states=failed");
  shown(<AssetView asset="days" />);
  await picture();
  expect(text()).toBe("2013-01-02");
  expect(screen.getByRole("button", { name: "1 failed", pressed: true })).toBeTruthy();
});

test("what made a partition fail is read without a click, below all partitions", async () => {
  const rest = "*/asset-partitions/api/v1/assets/days";
  const failed = { state: "failed", first: dayOf(8), last: dayOf(8), count: 1 };
  const run = { state: "failed", failed: ["days"], tries: 1, error: "ValueError: no rows" };
  server.use(
    http.get(`${rest}/states`, ({ request }) => {
      expect(new URL(request.url).search).toBe("?states=failed&limit=100");
      return HttpResponse.json({ asset: "days", now: "", stretches: [failed], cursor: null });
    }),
    http.get(`${rest}/partitions/${dayOf(8)}`, () => HttpResponse.json({ key: dayOf(8), runs: [run] })),
  );
  shown(<AssetView asset="days" />);
  const section = await screen.findByRole("region", { name: "Failed partitions" });
  expect(section.textContent).toBe(`Failed partitions${dayOf(8)}task days failed: ValueError: no rows`);
  const place = section.compareDocumentPosition(screen.getByRole("region", { name: "Newest materialization" }));
  expect(place).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
});

test("all of an asset is asked for while its definition is on the way, unless one value alone is shown", async () => {
  const asked: string[] = [];
  let waits = false;
  let answer = () => {};
  const rest = "*/asset-partitions/api/v1/assets/days";
  server.use(
    http.get(rest, async () => {
      await new Promise<void>((resolve) => {
        waits = true;
        answer = resolve;
      });
      asked.push("definition");
      return HttpResponse.json(about);
    }),
    http.get(`${rest}/grid`, ({ request }) => {
      const query = new URL(request.url).searchParams;
      if (query.get("row_limit") === "1") asked.push(query.get("select") ?? "all");
      return HttpResponse.json(grid);
    }),
  );
  const { unmount } = shown(<AssetView asset="days" />, undefined, queryClient);
  await waitFor(() => expect([waits, ...asked]).toEqual([true, "all"]));
  answer();
  await picture();
  expect(asked).toEqual(["all", "definition"]);
  unmount();
  queryClient.clear();
  asked.length = 0;
  waits = false;
  window.history.replaceState(null, "", "/plugin/partitions/assets/days?only.date=2013-01-02");
  shown(<AssetView asset="days" />, undefined, queryClient);
  await waitFor(() => expect(waits).toBe(true));
  expect(asked).toEqual([]);
  answer();
  await picture();
  expect(asked).toEqual(["definition", "date in 2013-01-02"]);
  queryClient.clear();
});

test.each([
  ["?value=rows", "values"],
  ["?calendar=", "grid"],
])("what is below the picture of %s is asked for when that is there", async (address, last) => {
  const asked: string[] = [];
  let answer = () => {};
  let waits = false;
  const rest = "*/asset-partitions/api/v1/assets/days";
  const values = {
    ...grid,
    value: "rows",
    measure: "number",
    of_several: "mean",
    rows: [{ value: null, values: grid.columns.map(() => 7) }],
    line: grid.columns.map(() => 7),
    line_told: grid.columns.map(() => 1),
    told: 10,
    untold: 0,
    ...{ least: 7, low: 7, high: 7, most: 7 },
  };
  const drawing = async ({ request }: { readonly request: Request }) => {
    const of = new URL(request.url);
    const isLast = of.pathname.endsWith(last) && of.searchParams.get("columns") !== "300";
    if (isLast && !waits) {
      await new Promise<void>((resolve) => {
        waits = true;
        answer = resolve;
      });
      asked.push(last);
    }
    return HttpResponse.json(of.pathname.endsWith("values") ? values : grid);
  };
  server.use(
    http.get(`${rest}/grid`, drawing),
    http.get(`${rest}/values`, drawing),
    http.get(`${rest}/materializations`, () => {
      asked.push("materializations");
      return HttpResponse.json({ asset: "days", materializations: [] });
    }),
    http.get(`${rest}/states`, () => {
      asked.push("failed");
      return HttpResponse.json({ asset: "days", now: grid.now, stretches: [], cursor: null });
    }),
  );
  window.history.replaceState(null, "", `/plugin/partitions/assets/days${address}`);
  shown(<AssetView asset="days" />);
  await waitFor(() => expect(waits).toBe(true));
  expect(screen.queryByRole("region", { name: "Newest materialization" })).toBeNull();
  answer();
  await screen.findByRole("region", { name: "Newest materialization" });
  await waitFor(() => expect(asked.length).toBeGreaterThan(2));
  expect(asked[0]).toBe(last);
});

test("what is below a picture that can't be drawn is there", async () => {
  server.use(
    http.get("*/asset-partitions/api/v1/assets/days/grid", () =>
      HttpResponse.json({ title: "Broken", status: 422, detail: "no such row" }, { status: 422 }),
    ),
  );
  for (const form of ["", "?calendar="]) {
    window.history.replaceState(null, "", `/plugin/partitions/assets/days${form}`);
    const { unmount } = shown(<AssetView asset="days" />);
    await screen.findByText(/no such row/);
    await screen.findByRole("region", { name: "Newest materialization" });
    unmount();
  }
});

test("the calendar of an asset without a partition says so, and shows what is below", async () => {
  server.use(
    http.get("*/asset-partitions/api/v1/assets/days/grid", () =>
      HttpResponse.json({
        ...grid,
        start: null,
        end: null,
        extent: null,
        columns: [],
        rows: [],
        row_count: 0,
        total: 0,
      }),
    ),
  );
  window.history.replaceState(null, "", "/plugin/partitions/assets/days?calendar=");
  shown(<AssetView asset="days" />);
  await screen.findByText("There is no partition yet.");
  await screen.findByRole("region", { name: "Newest materialization" });
});
