import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { Faults } from "../../src/app/Faults";
import { lacking } from "../../src/app/host";
import { Plugin } from "../../src/app/Plugin";

afterEach(cleanup);

test("a page of an Airflow that shares too little gets a plain message in place of a fault", () => {
  expect(lacking()).toContain("ChakraUI"); // as nothing is shared with these tests
  render(<Plugin dagId="flights" />);
  expect(screen.getByRole("alert").textContent).toMatch(/can’t show partitions.*ChakraUI.*3\.3\.2/);
});

test("all that the view needs is enough", () => {
  const page = {
    React: { use: 1 },
    ReactDOM: { createPortal: 1 },
    ReactJSXRuntime: { jsx: 1 },
    ReactRouterDOM: { useLocation: 1 },
    ChakraUI: { createToaster: 1 },
    EmotionReact: { keyframes: 1 },
  };
  expect(lacking(page)).toEqual([]);
  expect(lacking({ ...page, React: { version: "18.0.0" } })).toEqual(["React"]);
});

test("a fault of a page is shown in its place, with a way to load it again", () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  const Broken = () => {
    throw new Error("cells of nothing");
  };
  render(
    <Faults>
      <Broken />
    </Faults>,
  );
  expect(screen.getByRole("alert").textContent).toContain("cells of nothing");
  expect(screen.getByRole("button", { name: "Load the page again" })).toBeTruthy();
});
