import { client } from "../rest/client";
import { hasEnded, type Request } from "./request";

/** What may be done with a request. */
export const VERBS = ["pause", "resume", "cancel", "retry", "delete"] as const;
export type Verb = (typeof VERBS)[number];

export const LABELS: Readonly<Record<Verb, string>> = {
  pause: "Pause",
  resume: "Resume",
  cancel: "Cancel request",
  retry: "Re-run failed",
  delete: "Delete",
};

/** What may be done with a request as it is now: nothing that the server would refuse. */
export const verbsFor = (request: Request): Verb[] => {
  const pausing = request.state === "paused" || request.state === "stopped" ? "resume" : "pause";
  const failed = (request.runs.failed ?? 0) > 0;
  const unfinished = request.state === "cancelled" && request.created < request.partitions;
  return [
    ...(failed || unfinished ? (["retry"] as const) : []),
    ...(hasEnded(request) ? [] : ([pausing, "cancel"] as const)),
  ];
};

/** Changes a request, or with *dryRun* only learns whether that is refused. */
export const change = async (verb: Verb, request: number, dryRun = false): Promise<Request | undefined> =>
  (
    await client.POST(`/api/v1/requests/{request}/${verb}`, {
      params: { path: { request } },
      body: { dry_run: dryRun },
    })
  ).data;
