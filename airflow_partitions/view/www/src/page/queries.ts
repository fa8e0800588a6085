import { QueryClient } from "@tanstack/react-query";

import { Problem } from "../rest/problem";

/** How often what is shown is asked for again, in milliseconds. */
export const LIVE = 5_000;

/** One cache for all pages; what was there stays while the server is away. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: "always", // a server of one's own machine answers offline, too
      staleTime: 2_000,
      gcTime: 300_000,
      retry: (count, error) => error instanceof Problem && error.passing && count < 3,
      refetchOnWindowFocus: true,
    },
    mutations: { networkMode: "always", retry: false },
  },
});
