import { rest } from "../rest/client";

/** An asset, its definition and the Dags around it. */
export const useAsset = (asset: string) =>
  rest.useQuery("get", "/api/v1/assets/{asset}", { params: { path: { asset } } });
