import { rest } from "../rest/client";

/** How often an asset is asked for again, in milliseconds: its Dag file may go, break or come back. */
const PACE = 15_000;

/** An asset, its definition and the Dags around it. */
export const useAsset = (asset: string) =>
  rest.useQuery("get", "/api/v1/assets/{asset}", { params: { path: { asset } } }, { refetchInterval: PACE });
