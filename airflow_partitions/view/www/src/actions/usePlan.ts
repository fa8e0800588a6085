import { keepPreviousData, useQuery } from "@tanstack/react-query";

import { client } from "../rest/client";
import { asQuery, type Partitions } from "./partitions";

/** What a request for some partitions of an asset would do. */
export const usePlan = (asset: string, partitions: Partitions, upstream: boolean, enabled = true) =>
  useQuery({
    queryKey: ["plan", asset, asQuery(partitions), upstream],
    queryFn: async ({ signal }) =>
      (
        await client().GET("/api/v1/assets/{asset}/plan", {
          params: { path: { asset }, query: { ...asQuery(partitions), upstream, downstream: true } },
          signal,
        })
      ).data,
    placeholderData: keepPreviousData,
    enabled,
  });
