import { useQuery } from "@tanstack/react-query";

import { client } from "../rest/client";
import type { components } from "../rest/schema";

export type Request = components["schemas"]["Request"];

/** Whether nothing happens any more, unless somebody asks for it. */
export const hasEnded = ({ state }: Pick<Request, "state">): boolean => ["done", "failed", "cancelled"].includes(state);

/** How often to ask for what is at work, and for what rests, in milliseconds. */
export const pace = (atWork: boolean): number => (atWork ? 3_000 : 10_000);

/** A request and how far it has come, asked for again and again while it is shown. */
export const useRequest = (request: number) =>
  useQuery({
    queryKey: ["request", request],
    queryFn: async ({ signal }) =>
      (await client().GET("/api/v1/requests/{request}", { params: { path: { request } }, signal })).data,
    refetchInterval: ({ state }) => pace(state.data === undefined || !hasEnded(state.data)),
  });
