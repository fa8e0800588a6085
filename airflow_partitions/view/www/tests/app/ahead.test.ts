import { QueryClient } from "@tanstack/react-query";
import { http, HttpResponse } from "msw";
import { afterEach, expect, test, vi } from "vitest";

import { askAhead } from "../../src/app/ahead";
import { server } from "../server";

afterEach(() => {
  document.head.querySelector("base")?.remove();
});

/** What of our API is asked for ahead of the page at an address of an Airflow below *base*. */
const askedAhead = async (address: string, base = "/"): Promise<string[]> => {
  document.head.append(Object.assign(document.createElement("base"), { href: base }));
  const asked: string[] = [];
  server.use(
    http.get("*", ({ request }) => {
      const { pathname, search } = new URL(request.url);
      asked.push(decodeURIComponent(pathname.replace(/^.*\/asset-partitions\/api\/v1/, "") + search));
      return HttpResponse.json({ title: "No", status: 403 }, { status: 403 });
    }),
  );
  const queries = new QueryClient();
  askAhead(queries, new URL(address, window.location.origin));
  await vi.waitFor(() => expect(queries.isFetching()).toBe(0));
  return asked.sort();
};

test.each([
  ["/plugin/partitions", ["/assets?limit=1000&counts=false"]],
  ["/plugin/partitions/board?days=365&tag=daily", ["/board?since=365d&columns=367&limit=50"]],
  ["/plugin/partitions/board?days=12", ["/board?since=30d&columns=124&limit=50"]],
  ["/plugin/partitions/assets/days?value=rows", ["/assets/days", "/assets/days/grid?columns=300&row_limit=1&down="]],
  ["/plugin/partitions/assets/a%2Fb", ["/assets/a/b", "/assets/a/b/grid?columns=300&row_limit=1&down="]],
  ["/plugin/partitions/assets/days?only.region=north", ["/assets/days"]],
  ["/plugin/partitions/assets/days/partitions/2013-01-01", []],
  ["/plugin/partitions/doctor", []],
  ["/dags/board", []],
])("ahead of %s", async (address, asked) => {
  expect(await askedAhead(address)).toEqual(asked);
});

test("an Airflow may be below a path", async () => {
  const asked = ["/board?since=30d&columns=124&limit=50"];
  expect(await askedAhead("/team/plugin/partitions/board/", "/team/")).toEqual(asked);
});
