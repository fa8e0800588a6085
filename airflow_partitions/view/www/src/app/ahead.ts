import type { QueryClient } from "@tanstack/react-query";

import { namesQuery } from "../assets/list";
import { assetQuery } from "../assets/useAsset";
import { boardQuery } from "../board/board";
import { periodOf } from "../board/filters";
import { askForWhole } from "../grid/useGrid";
import { names } from "../page/names";
import { paths } from "../page/paths";
import { basePath } from "../rest/base";
import { isNarrowed } from "../selection/usePicture";

/**
 * Asks for what the page at an address shows first: Airflow takes some time to put a page together.
 *
 * What fails, or is of another page, is asked for by that page.
 */
export const askAhead = (queries: QueryClient, { pathname, searchParams }: URL): void => {
  const path = `/${pathname.slice(basePath().length)}`.replace(/\/$/, "");
  const { asset, key } = names(path);
  if (path === paths.board()) {
    queries.infiniteQuery(boardQuery(periodOf(searchParams))).catch(() => undefined);
  } else if (path === paths.overview()) {
    queries.query(namesQuery).catch(() => undefined);
  } else if (path === paths.asset(asset) && key === "") {
    queries.query(assetQuery(asset)).catch(() => undefined);
    if (!isNarrowed(searchParams)) askForWhole(queries, asset);
  }
};
