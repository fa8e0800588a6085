import { LIVE } from "../page/queries";
import { rest } from "../rest/client";

/** How many partitions a text selects, by state, and what the server takes it for; nothing for no text. */
export const useCounts = (asset: string, select: string) =>
  rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/counts",
    { params: { path: { asset }, query: { select } } },
    { enabled: select !== "", refetchInterval: LIVE },
  );
