import { QueryClient, useQuery } from "@tanstack/react-query";
import { act, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";

import { Answer } from "../../src/page/Answer";
import { NoAnswer } from "../../src/app/NoAnswer";
import { Problem } from "../../src/rest/problem";
import { shown } from "../shown";

test("while the server is away, what is on the screen stays, with since when; then the note goes", async () => {
  let answer: () => string = () => "40 assets";
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const Shown = () => {
    const query = useQuery({ queryKey: ["assets"], queryFn: () => Promise.resolve().then(() => answer()) });
    return <Answer query={query}>{(text) => <p>{text}</p>}</Answer>;
  };
  shown(
    <>
      <NoAnswer />
      <Shown />
    </>,
    "/plugin/partitions",
    queries,
  );
  await screen.findByText("40 assets");
  expect(screen.queryByText(/No answer/)).toBeNull();

  answer = () => {
    throw new Problem(0, {});
  };
  await act(() => queries.refetchQueries());
  await screen.findByText(/No answer since \d+.\d+.*; trying again/);
  expect(screen.getByText("40 assets")).toBeTruthy();

  answer = () => "41 assets";
  await act(() => queries.refetchQueries());
  await screen.findByText("41 assets");
  await waitFor(() => expect(screen.queryByText(/No answer/)).toBeNull());
});

test("an asset that is deleted while one looks at it is no longer shown", async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  let gone = false;
  const Shown = () => {
    const query = useQuery({
      queryKey: ["asset"],
      queryFn: () => (gone ? Promise.reject(new Problem(404, { title: "Unknown asset" })) : Promise.resolve("flights")),
    });
    return <Answer query={query}>{(text) => <p>{text}</p>}</Answer>;
  };
  shown(<Shown />, "/plugin/partitions", queries);
  await screen.findByText("flights");
  gone = true;
  await act(() => queries.refetchQueries());
  await screen.findByText("Unknown asset");
  expect(screen.queryByText("flights")).toBeNull();
});
