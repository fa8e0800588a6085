import { screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { expect, test } from "vitest";

import { Charts } from "../../src/partition/Charts";
import { answer } from "../actions/server";
import { shown } from "../shown";

const made = (key: string, rows: number) => ({ key, rows, at: "2013-03-10T00:00:00+00:00" });

const bar = (name: string): { x: number; height: number } => {
  const drawn = screen.getByRole("link", { name }).querySelector("rect:last-of-type");
  const value = (attribute: string) => Number(drawn?.getAttribute(attribute));
  return { x: value("x"), height: value("height") };
};

test("each partition has a bar that leads to it, as high as what it tells", async () => {
  answer("/assets/days/materializations", {
    materializations: [made("2013-03-08", 0), made("2013-03-09", 500), made("2013-03-10", 1000)],
  });
  shown(<Charts asset="days" partition="2013-03-10" select={undefined} />);
  expect(await screen.findByText("Rows written")).toBeDefined();
  expect(screen.getByText("1,000")).toBeDefined();
  const bars = ["2013-03-08: 0", "2013-03-09: 500", "2013-03-10: 1,000"].map(bar);
  expect(bars.map(({ height }) => height)).toEqual([1, 24.5, 48]);
  const places = bars.map(({ x }) => x);
  expect(places).toEqual([...places].sort((one, other) => one - other));
  expect(new Set(places).size).toBe(3);
  const link = screen.getByRole("link", { name: "2013-03-09: 500" }).getAttribute("href");
  expect(link).toBe("/plugin/partitions/assets/days/partitions/2013-03-09");
  expect(screen.queryByText("Bytes read")).toBeNull();
  await userEvent.hover(screen.getByRole("link", { name: "2013-03-09: 500" }));
  expect(screen.getByText("500")).toBeDefined();
});
