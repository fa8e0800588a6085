import { rest } from "../rest/client";

/** A partition by its asset and key. */
export type PartitionName = { readonly asset: string; readonly partition: string };

/** Why a partition is in its state, in sentences: by which run, and what it waits for; none where none is named. */
export const useReasons = (of: PartitionName | null): readonly string[] | undefined => {
  const { data } = rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/partitions/{key}",
    { params: { path: { asset: of?.asset ?? "", key: of?.partition ?? "" } } },
    { enabled: of !== null },
  );
  return data?.reasons;
};
