import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Problem } from "../rest/problem";
import { Loading } from "./Loading";
import { Trouble } from "./Trouble";

type Content<T> = {
  readonly query: Pick<UseQueryResult<T>, "data" | "error">;
  /** What holds the place until the first answer. */
  readonly loading?: ReactNode;
  readonly children: (data: T) => ReactNode;
};

/** What a query answered; while the server is away, what it answered last; else why there is nothing. */
export const Answer = <T,>({ query: { data, error }, loading, children }: Content<T>) => {
  const passing = error instanceof Problem && error.passing;
  if (error !== null && (data === undefined || !passing)) return <Trouble error={error} />;
  return data === undefined ? (loading ?? <Loading />) : children(data);
};
