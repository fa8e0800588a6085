import { screen } from "@testing-library/react";
import { Route, Routes } from "react-router-dom";
import { expect, test } from "vitest";

import { names, useNames } from "../../src/page/names";
import { paths } from "../../src/page/paths";
import { shown } from "../shown";

const Names = () => <p data-testid="names">{JSON.stringify(useNames())}</p>;

test.each(["s3://lake/a%2Fb", "100% #1?|&", "with space", "تل أبيب", "🛫 JFK", "..\\", "partitions"])(
  "an address keeps the name %s whole",
  (name) => {
    const at = paths.partition(name, `2013-03-01|${name}`);
    shown(
      <Routes>
        <Route
          path="plugin/:page/*"
          element={
            <Routes>
              <Route path="assets/:asset/partitions/:key" element={<Names />} />
            </Routes>
          }
        />
      </Routes>,
      at,
    );
    expect(screen.getByTestId("names").textContent).toBe(JSON.stringify({ asset: name, key: `2013-03-01|${name}` }));
  },
);

test("an address typed by hand with a lone % is read as it stands", () => {
  expect(names("/plugin/partitions/assets/100%").asset).toBe("100%");
});
