import { rest } from "../rest/client";
import type { components } from "../rest/schema";

const PATH = "/api/v1/requests/{request}";

export type Request = components["schemas"]["Request"];

const ENDED: readonly Request["state"][] = ["done", "failed", "cancelled"];

/** Whether nothing happens any more, unless somebody asks for it. */
export const hasEnded = ({ state }: Pick<Request, "state">): boolean => ENDED.includes(state);

/** How often to ask for what is at work, and for what rests, in milliseconds. */
export const pace = (atWork: boolean): number => (atWork ? 3_000 : 10_000);

/** A request and how far it has come, asked for again and again while it is shown. */
export const useRequest = (request: number) =>
  rest.useQuery(
    "get",
    PATH,
    { params: { path: { request } } },
    { refetchInterval: ({ state }) => pace(state.data === undefined || !hasEnded(state.data)) },
  );

/** The key in the cache of that request. */
export const requestKey = (request: number) =>
  rest.queryOptions("get", PATH, { params: { path: { request } } }).queryKey;

/** Whether a key of the cache is that of a request. */
export const isOfRequest = (key: readonly unknown[]): boolean => key[1] === PATH;
