import { client } from "../rest/client";
import { LONGEST } from "./keyList";
import { asSelected } from "./partitions";

/** What is said of partitions by hand: that they are there, or that they are not. */
export type Kind = "mark" | "forget";

export type Correction = {
  readonly asset: string;
  readonly kind: Kind;
  /** A selection, or a list of keys. */
  readonly select: string;
  readonly reason: string;
  readonly quiet: boolean;
};

/** How many partitions a correction changes, how many it finds so already, and the text of those it changed. */
export type Outcome = { readonly count: number; readonly others: number; readonly changed: string };

/** Marks or forgets partitions, or with *dryRun* only tells how many it would be. */
export const correct = async (
  { asset, kind, select, reason, quiet }: Correction,
  dryRun: boolean,
  signal: AbortSignal | null = null,
): Promise<Outcome> => {
  const params = { path: { asset } };
  if (kind === "mark") {
    const body = { ...asSelected(select), reason, quiet, dry_run: dryRun };
    const { data } = await client.POST("/api/v1/assets/{asset}/mark", { params, body, signal });
    return { count: data?.count ?? 0, others: data?.present ?? 0, changed: data?.new ?? "" };
  }
  const body = { ...asSelected(select), reason, dry_run: dryRun };
  const { data } = await client.POST("/api/v1/assets/{asset}/forget", { params, body, signal });
  return { count: data?.count ?? 0, others: data?.absent ?? 0, changed: data?.selection ?? "" };
};

/** Whether a correction can be taken back: what it has changed can be said in one question. */
export const canTakeBack = ({ changed }: Outcome): boolean => {
  const { select, keys } = asSelected(changed);
  return keys !== undefined || (select !== undefined && select.length <= LONGEST);
};

/** Takes a correction back: of partitions that were marked, those that were not there before are forgotten. */
export const takeBack = async ({ asset, kind }: Correction, { changed }: Outcome): Promise<void> => {
  const params = { path: { asset } };
  if (kind === "forget") {
    await client.POST("/api/v1/assets/{asset}/remember", {
      params,
      body: { ...asSelected(changed), dry_run: false },
    });
    return;
  }
  const body = { ...asSelected(changed), reason: "marked by mistake", dry_run: false };
  await client.POST("/api/v1/assets/{asset}/forget", { params, body });
};
