import { useQuery } from "@tanstack/react-query";

import { rest } from "../rest/client";

/** How often an asset is asked for again, in milliseconds: its Dag file may go, break or come back. */
const PACE = 15_000;

/** What asks for an asset, its definition and the Dags around it. */
export const assetQuery = (asset: string) =>
  rest.queryOptions("get", "/api/v1/assets/{asset}", { params: { path: { asset } } });

/** An asset, its definition and the Dags around it. */
export const useAsset = (asset: string) => useQuery({ ...assetQuery(asset), refetchInterval: PACE });
