import { screen } from "@testing-library/react";
import { http, HttpResponse } from "msw";
import { expect, test, vi } from "vitest";

import { AssetView } from "../../src/assets/AssetView";
import { server } from "../server";
import { shown } from "../shown";
import { details } from "./listed";

const about = details("customers", {
  definition: {
    kind: "runtime",
    text: "",
    timezone: null,
    dimensions: [{ name: "customer", kind: "runtime", count: null }],
    first: null,
    last: null,
    count: null,
    form: {},
  },
});

/** Two customers that are there. */
const grid = {
  asset: "customers",
  version: "1",
  now: "2013-02-01T00:00:00Z",
  timezone: null,
  across: null,
  down: "customer",
  start: null,
  end: null,
  unit: null,
  extent: null,
  columns: [{ first: null, last: null, count: 1 }],
  cells: [{ states: { materialized: 1 } }],
  rows: ["ann", "b,c"].map((value) => ({ value, runs: [[1, 0]] })),
  row_count: 2,
  row_cursor: null,
  counts: { materialized: 2 },
  total: 2,
  provisional: 0,
};

test("a row of a key that is known at runtime shows what was kept with it", async () => {
  window.history.replaceState(null, "", "/plugin/partitions/assets/customers");
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(800);
  const rest = "*/asset-partitions/api/v1/assets/customers";
  const selections: (string | null)[] = [];
  server.use(
    http.get(rest, () => HttpResponse.json(about)),
    http.get(`${rest}/grid`, () => HttpResponse.json(grid)),
    http.get(`${rest}/keys`, ({ request }) => {
      selections.push(new URL(request.url).searchParams.get("select"));
      const keys = [
        { key: "b,c", dimensions: {}, start: null, end: null, metadata: { country: "NL", files: ["x"] } },
        { key: "ann", dimensions: {}, start: null, end: null, metadata: null },
      ];
      return HttpResponse.json({ keys, count: null, cursor: null });
    }),
  );
  shown(<AssetView asset="customers" />);
  const text = await screen.findByText("country: NL, …");
  expect(text.parentElement?.title).toBe(JSON.stringify({ country: "NL", files: ["x"] }, null, 2));
  expect(selections).toEqual(['ann,"b,c"']);
});
