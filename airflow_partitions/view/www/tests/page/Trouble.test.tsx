import { QueryClient, useQuery } from "@tanstack/react-query";
import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";

import { Answer } from "../../src/page/Answer";
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

test("eo7: a page that asks again and again says why there is nothing, and never goes back to grey bars", async () => {
  let tries = 0;
  const Shown = () => {
    const query = useQuery<string>({
      queryKey: ["requests"],
      queryFn: () => {
        tries += 1;
        return tries === 1
          ? Promise.reject(new Problem(500, { title: "The server failed" }))
          : new Promise<string>(() => undefined);
      },
      retry: false,
      refetchInterval: 20,
    });
    return <Answer query={query}>{(text) => <p>{text}</p>}</Answer>;
  };
  shown(<Shown />, "/plugin/partitions/requests", new QueryClient());
  await screen.findByText("The server failed");
  await waitFor(() => expect(tries).toBe(2));
  expect(screen.getByRole("alert").textContent).toMatch(/The server failed/);
  expect(screen.queryByRole("status", { name: "Loading" })).toBeNull();
});

test("eo7: the first try that fails is told, while it is tried again", async () => {
  const Shown = () => {
    const query = useQuery<string>({
      queryKey: ["requests"],
      queryFn: () => Promise.reject(new Problem(0, {})),
      retry: true,
    });
    return <Answer query={query}>{(text) => <p>{text}</p>}</Answer>;
  };
  shown(<Shown />, "/plugin/partitions/requests", new QueryClient());
  expect((await screen.findByRole("alert")).textContent).toMatch(/No answer/);
});
