import { screen } from "@testing-library/react";
import { expect, test } from "vitest";

import { Trouble } from "../../src/page/Trouble";
import { Problem } from "../../src/rest/problem";
import { shown } from "../shown";

const ways = () => [...screen.queryAllByRole("button"), ...screen.queryAllByRole("link")].map((way) => way.textContent);

test.each([
  ["no answer", new Problem(0, {}), /^No answerThe server does not answer/, ["Try again"]],
  ["a session that is over", new Problem(401, {}), /session is over/, ["Log in"]],
  ["no permission", new Problem(403, { detail: "You may not read Dag flights." }), /You may not read Dag flights/, []],
  ["a failing server", new Problem(503, { title: "Database is away" }), /Database is away/, ["Try again"]],
  [
    "a refusal",
    new Problem(422, { title: "Bad", mistakes: [{ field: "query.limit", detail: "1..1000" }] }),
    /query.limit: 1..1000/,
    [],
  ],
  ["a fault of the page", new TypeError("x is undefined"), /x is undefined/, ["Load the page again"]],
])("%s says so, and offers only what may help", (_, error, words, offered) => {
  shown(<Trouble error={error} />);
  expect(screen.getByRole("alert").textContent).toMatch(words);
  expect(ways()).toEqual(offered);
});

test("an asset that is gone leads to the nearest names and to all assets", () => {
  const document = {
    type: "urn:airflow-partitions:unknown-asset",
    detail: "no asset 'hourly'",
    nearest: ["hourly/flights"],
  };
  shown(<Trouble error={new Problem(404, document)} />);
  expect(screen.getByRole("link", { name: "hourly/flights" }).getAttribute("href")).toBe(
    "/plugin/partitions/assets/hourly%2Fflights",
  );
  expect(ways()).toEqual(["hourly/flights", "All assets"]);
});
