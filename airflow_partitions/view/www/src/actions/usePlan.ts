import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { client } from "../rest/client";
import type { components } from "../rest/schema";
import { asQuery, type Partitions } from "./partitions";
import { readOptions, USUAL } from "./runOptions";

type Plan = components["schemas"]["Plan"];

type Asked = {
  readonly asset: string;
  readonly partitions: Partitions;
  /** Whether what they need is made first. */
  readonly upstream: boolean;
  /** Whether they are to be made while their Dag is paused. */
  readonly whilePaused?: boolean;
};

/** What a request would do; a list of keys is too long for an address, so that it is the request itself, tried. */
const readPlan = async ({ asset, partitions, upstream, whilePaused = false }: Asked, signal: AbortSignal) => {
  const { keys, ...query } = asQuery(partitions);
  const params = { path: { asset } };
  const around = { upstream, downstream: true };
  if (keys === undefined) {
    const { data } = await client.GET("/api/v1/assets/{asset}/plan", {
      params: { ...params, query: { ...query, ...around } },
      signal,
    });
    return data as Plan;
  }
  const { data } = await client.POST("/api/v1/assets/{asset}/requests", {
    params,
    body: { ...readOptions({ ...USUAL, whilePaused }).options, ...query, ...around, keys, dry_run: true },
    signal,
  });
  return data?.plan as Plan;
};

/** What a request for some partitions of an asset would do. */
export const usePlan = (asked: Asked, enabled = true) =>
  useQuery({
    queryKey: ["plan", asked],
    queryFn: ({ signal }) => readPlan(asked, signal),
    placeholderData: keepPreviousData,
    enabled,
    gcTime: 0,
  });
