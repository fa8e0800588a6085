import { useQuery } from "@tanstack/react-query";

import { client } from "../rest/client";

/** An asset, its definition and the Dags around it. */
export const useAsset = (asset: string) =>
  useQuery({
    queryKey: ["asset", asset],
    queryFn: async ({ signal }) =>
      (await client().GET("/api/v1/assets/{asset}", { params: { path: { asset } }, signal })).data,
  });
