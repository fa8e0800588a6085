import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Problem } from "../rest/problem";
import { Loading } from "./Loading";
import { Trouble } from "./Trouble";
import { useTrouble } from "./useTrouble";

type Content<T> = {
  readonly query: Pick<UseQueryResult<T>, "data" | "error" | "failureReason">;
  /** What holds the place until the first answer. */
  readonly loading?: ReactNode;
  readonly children: (data: T) => ReactNode;
};

/** What a query answered; while the server is away, what it answered last; else why there is nothing. */
export const Answer = <T,>({ query, loading, children }: Content<T>) => {
  const { data } = query;
  const trouble = useTrouble(query);
  const passing = trouble instanceof Problem && trouble.passing;
  if (trouble !== null && (data === undefined || !passing)) return <Trouble error={trouble} />;
  return data === undefined ? (loading ?? <Loading />) : children(data);
};
