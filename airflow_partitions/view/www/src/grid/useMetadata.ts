import { useQueries } from "@tanstack/react-query";

import { rest } from "../rest/client";
import type { components } from "../rest/schema";
import { written } from "../selection/text";

/** What a question for keys has room for: the server takes 2,000 characters, and a page of so many keys. */
const LONGEST = 1_900;
const MOST = 50;

/** Keys as texts of selections, as few as have room for them. */
export const portionsOf = (keys: readonly string[]): readonly string[] => {
  const portions: string[][] = [];
  for (const key of keys.map(written)) {
    const portion = portions.at(-1);
    if (portion !== undefined && portion.length < MOST && [...portion, key].join(",").length <= LONGEST)
      portion.push(key);
    else portions.push([key]);
  }
  return portions.map((portion) => portion.join(","));
};

type Page = components["schemas"]["KeyPage"];

const joined = (answers: readonly { readonly data: Page | undefined }[]): ReadonlyMap<string, unknown> =>
  new Map(answers.flatMap(({ data }) => data?.keys.map(({ key, metadata }) => [key, metadata] as const) ?? []));

/** What was kept with some keys that are known at runtime, by key. */
export const useMetadata = (asset: string, keys: readonly string[]): ReadonlyMap<string, unknown> =>
  useQueries({
    queries: portionsOf(keys).map((select) =>
      rest.queryOptions(
        "get",
        "/api/v1/assets/{asset}/keys",
        { params: { path: { asset }, query: { select, limit: MOST } } },
        { staleTime: 60_000 },
      ),
    ),
    combine: joined,
  });
