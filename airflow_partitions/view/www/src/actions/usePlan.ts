import { keepPreviousData } from "@tanstack/react-query";

import { rest } from "../rest/client";
import { asQuery, type Partitions } from "./partitions";

/** What a request for some partitions of an asset would do. */
export const usePlan = (asset: string, partitions: Partitions, upstream: boolean, enabled = true) =>
  rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/plan",
    { params: { path: { asset }, query: { ...asQuery(partitions), upstream, downstream: true } } },
    { placeholderData: keepPreviousData, enabled },
  );
