import type { QueryClient } from "@tanstack/react-query";

import { listAssets } from "../assets/list";
import { counted } from "../page/amounts";
import { unpauseDag } from "../rest/airflow";
import { client } from "../rest/client";
import type { components } from "../rest/schema";
import { asSelected } from "./partitions";
import { readOptions, USUAL } from "./runOptions";

/** What follows once a paused Dag is unpaused, and the asset whose partitions these are. */
export type Missed = components["schemas"]["MissedByDag"] & { readonly asset: string };

/** What of these partitions is to be: all follow by events, only some are made as a request, or none is. */
export type Choice = "follow" | "ask" | "skip";

/** The question what a Dag has missed; `null` if nothing. */
export const missedQuery = (dag: string) => ({
  queryKey: ["missed", dag],
  queryFn: async ({
    signal,
    client: queries,
  }: {
    signal: AbortSignal;
    client: QueryClient;
  }): Promise<Missed | null> => {
    const assets = await queries.query({
      staleTime: 60_000,
      queryKey: ["assets", "names"],
      queryFn: (context) => listAssets(false, context.signal),
    });
    for (const { name } of assets.filter(({ producers }) => producers.includes(dag))) {
      const { data } = await client.GET("/api/v1/assets/{asset}/missed", { params: { path: { asset: name } }, signal });
      const missed = data?.dags.find(({ dag_id }) => dag_id === dag);
      if (missed !== undefined) return { ...missed, asset: name };
    }
    return null;
  },
});

/** "12 partitions of flights follow", of which there may be more. */
export const followWords = ({ asset, count, more }: Missed): string =>
  `${more ? "at least " : ""}${counted(count, "partition")} of ${asset} ` +
  `follow${count === 1 ? "s" : ""}, for events that came meanwhile`;

/** Unpauses a Dag after what it has missed is as one chose; the numbers of the requests for what is asked for. */
export const unpauseWith = async (
  { asset, dag_id }: Missed,
  choice: Choice,
  selection: string,
  concurrency: number,
): Promise<readonly number[]> => {
  const params = { path: { asset } };
  const order = (whilePaused: boolean, dryRun: boolean) =>
    client.POST("/api/v1/assets/{asset}/requests", {
      params,
      body: {
        ...readOptions({ ...USUAL, whilePaused }).options,
        ...asSelected(selection),
        concurrency,
        upstream: false,
        downstream: false,
        dry_run: dryRun,
      },
    });
  if (choice === "ask") await order(true, true); // before anything is skipped
  if (choice !== "follow") {
    await client.POST("/api/v1/assets/{asset}/missed/skip", { params, body: { dry_run: false } });
  }
  await unpauseDag(dag_id);
  if (choice !== "ask") return [];
  const { data } = await order(false, false);
  return data?.requests.map(({ id }) => id) ?? [];
};
