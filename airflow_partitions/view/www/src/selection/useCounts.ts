import { useQuery } from "@tanstack/react-query";

import { LIVE } from "../app/queries";
import { client } from "../rest/client";

/** How many partitions a text selects, by state, and what the server takes it for. */
export const useCounts = (asset: string, select: string) =>
  useQuery({
    queryKey: ["counts", asset, select],
    queryFn: async ({ signal }) =>
      (
        await client().GET("/api/v1/assets/{asset}/counts", {
          params: { path: { asset }, query: { select } },
          signal,
        })
      ).data,
    enabled: select !== "",
    refetchInterval: LIVE,
  });
