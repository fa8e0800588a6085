import { screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";

import { DagTab } from "../../src/app/DagTab";
import { answered } from "../assets/listed";
import { answers } from "../server";
import { shown } from "../shown";

vi.mock("../../src/assets/AssetView", () => ({
  AssetView: ({ asset }: { readonly asset: string }) => <p>Partitions of {asset}</p>,
}));

const assets = () => ({
  assets: [
    answered("days"),
    answered("by_airport", { producers: ["several"] }),
    answered("by_carrier", { producers: ["several"] }),
  ],
  cursor: null,
});

test("a Dag of one asset shows its partitions", async () => {
  answers("get", "/api/v1/assets", assets);
  shown(<DagTab dagId="days" />);
  await screen.findByText("Partitions of days");
  expect(screen.queryByRole("tab")).toBeNull();
});

test("a Dag of several assets has a tab for each", async () => {
  answers("get", "/api/v1/assets", assets);
  shown(<DagTab dagId="several" />);
  await screen.findByText("Partitions of by_airport");
  expect(screen.getAllByRole("tab").map(({ textContent }) => textContent)).toEqual(["by_airport", "by_carrier"]);
});

test("a Dag without partitions says how one gets them", async () => {
  answers("get", "/api/v1/assets", assets);
  shown(<DagTab dagId="plain" />);
  await screen.findByText(/makes no partitioned asset/);
  expect(screen.getByText("@asset(partition=…)")).toBeTruthy();
  expect(screen.getByRole("link", { name: "All partitioned assets" })).toBeTruthy();
});
