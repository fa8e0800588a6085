import { screen } from "@testing-library/react";
import { http, HttpResponse } from "msw";
import { expect, test } from "vitest";

import { useBoard } from "../../src/board/board";
import { server } from "../server";
import { shown } from "../shown";
import { board, strip } from "./built";

const Names = () => {
  const { data } = useBoard({ days: 30, until: null });
  const names = data?.pages.flatMap(({ strips }) => strips.map(({ asset }) => asset)) ?? [];
  return <output data-testid="names">{names.join(" ")}</output>;
};

test("the first answer is of as many assets as fill a screen, the next ones are of many", async () => {
  const asked: string[] = [];
  server.use(
    http.get("*/asset-partitions/api/v1/board", ({ request }) => {
      const query = new URL(request.url).searchParams;
      asked.push(`${query.get("limit") ?? ""} after ${query.get("cursor") ?? "nothing"}`);
      return HttpResponse.json(
        query.has("cursor") ? board(strip("days")) : { ...board(strip("hours")), cursor: "hours" },
      );
    }),
  );
  shown(<Names />);
  expect(await screen.findByText("hours days")).toBeTruthy();
  expect(asked).toEqual(["50 after nothing", "250 after hours"]);
});
