import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { beforeEach, expect, test, vi } from "vitest";

import { AssetView } from "../../src/assets/AssetView";
import { server } from "../server";
import { shown } from "../shown";
import { details } from "./listed";

const about = details("routes", {
  definition: {
    kind: "product",
    text: "",
    timezone: null,
    dimensions: ["carrier", "origin", "size"].map((name) => ({ name, kind: "sequence", count: 2 })),
    first: null,
    last: null,
    count: 8,
    form: {},
  },
});

/** Two by two, as the server arranges them if it is not told how: other than in the order of the dimensions. */
const grid = {
  asset: "routes",
  version: "1",
  now: "2013-02-01T00:00:00Z",
  timezone: null,
  across: "size",
  down: "origin",
  start: null,
  end: null,
  unit: null,
  extent: null,
  columns: ["large", "small"].map((size) => ({ first: size, last: size, count: 1, start: null, end: null })),
  cells: [{ states: { missing: 1 } }],
  rows: ["all", "a,b"].map((value) => ({ value, runs: [[2, 0]] })),
  row_count: 2,
  row_cursor: null,
  counts: { missing: 4 },
  total: 4,
  provisional: 0,
};

/** What the server was asked for. */
let asked: URLSearchParams[] = [];

beforeEach(() => {
  asked = [];
  window.history.replaceState(null, "", "/plugin/partitions/assets/routes");
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(800);
  vi.spyOn(HTMLElement.prototype, "setPointerCapture").mockReturnValue();
  const rest = "*/asset-partitions/api/v1/assets/routes";
  server.use(
    http.get(rest, () => HttpResponse.json(about)),
    http.get(`${rest}/grid`, ({ request }) => {
      asked.push(new URL(request.url).searchParams);
      return HttpResponse.json(grid);
    }),
    http.get(`${rest}/counts`, () =>
      HttpResponse.json({ asset: "routes", now: grid.now, total: 1, counts: {}, provisional: 0, selection: null }),
    ),
  );
});

test("the axes are those that the server takes, until one chooses others", async () => {
  shown(<AssetView asset="routes" />);
  expect((await screen.findByRole<HTMLSelectElement>("combobox", { name: "Across" })).value).toBe("size");
  expect(screen.getByRole<HTMLSelectElement>("combobox", { name: "Down" }).value).toBe("origin");
  const picture = asked.filter((query) => query.get("down") !== "");
  expect(picture.map((query) => [query.get("across"), query.get("down")])).toContainEqual([null, null]);
  fireEvent.change(screen.getByRole("combobox", { name: "Down" }), { target: { value: "carrier" } });
  await waitFor(() => expect(asked.at(-1)?.get("down")).toBe("carrier"));
  expect(asked.at(-1)?.get("across")).toBe("size");
});

test("one value alone goes with the axes beside which it was chosen", async () => {
  const user = userEvent.setup();
  shown(<AssetView asset="routes" />);
  await user.type(await screen.findByRole("textbox", { name: "Only one carrier" }), "A, B{Enter}");
  await waitFor(() => expect(asked.some((query) => query.get("select") === 'carrier in "A, B"')).toBe(true));
  const address = new URLSearchParams(window.location.search);
  expect([address.get("only.carrier"), address.get("across"), address.get("down")]).toEqual(["A, B", "size", "origin"]);
});
