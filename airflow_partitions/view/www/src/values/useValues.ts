import { useInfiniteQuery, type InfiniteData } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";

import type { Picture } from "../grid/picture";
import { askedOf, type Part } from "../grid/useGrid";
import { useTrouble } from "../page/useTrouble";
import { client } from "../rest/client";
import type { components } from "../rest/schema";
import { layerOf } from "./layer";
import type { Value } from "./value";

type CellValues = components["schemas"]["CellValues"];

/** They are more to send than states, and change with them only. */
const PACE = 15_000;

/** A value in each cell of a picture, of the same part of an asset's partitions; nothing where no value is chosen. */
export const useValues = (part: Part, value: Value | null, picture: Picture | null, enabled: boolean) => {
  const { asset, ...rest } = part;
  const query = useInfiniteQuery({
    queryKey: ["values", asset, value, rest] as const,
    queryFn: async ({ signal, pageParam }): Promise<CellValues> => {
      const { data } = await client.GET("/api/v1/assets/{asset}/values", {
        params: { path: { asset }, query: { ...askedOf(rest, pageParam), value: value ?? "rows" } },
        signal,
      });
      if (data === undefined) throw new Error("The server answered nothing.");
      return data;
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ row_cursor }) => row_cursor,
    enabled: enabled && value !== null,
    refetchInterval: PACE,
    // What was there stays until the new is there, so that nothing flickers.
    placeholderData: (before: InfiniteData<CellValues, string | null> | undefined, earlier) =>
      earlier?.queryKey[1] === asset && earlier.queryKey[2] === value ? before : undefined,
  });
  const { data, hasNextPage, isFetching, fetchNextPage } = query;
  const loaded = data?.pages.reduce((rows, page) => rows + page.rows.length, 0) ?? 0;
  const wanted = picture?.rows.length ?? 0;
  useEffect(() => {
    if (hasNextPage && !isFetching && loaded < wanted) void fetchNextPage();
  }, [hasNextPage, isFetching, loaded, wanted, fetchNextPage]);
  const layer = useMemo(
    () => (value === null || picture === null ? null : layerOf(data?.pages ?? [], picture)),
    [value, picture, data],
  );
  return { layer, error: useTrouble(query) };
};
