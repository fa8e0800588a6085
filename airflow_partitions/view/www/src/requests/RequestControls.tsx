import { Button, HStack } from "@chakra-ui/react";
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { Refusal } from "../page/Refusal";
import { useAsset } from "../assets/useAsset";
import { tell } from "../page/toasts";
import { client } from "../rest/client";
import { hasEnded, requestKey, type Request } from "./request";

type Verb = "pause" | "resume" | "cancel" | "retry";

const LABELS: Readonly<Record<Verb, string>> = {
  pause: "Pause",
  resume: "Resume",
  cancel: "Cancel request",
  retry: "Re-run failed",
};
const DONE: Readonly<Record<Verb, string>> = {
  pause: "paused: runs that are at work go on",
  resume: "goes on",
  cancel: "cancelled: runs that are at work go on",
  retry: "runs again what failed",
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

const change = async (verb: Verb, request: number): Promise<Request | undefined> =>
  (
    await client.POST(`/api/v1/requests/{request}/${verb}`, {
      params: { path: { request } },
      body: { dry_run: false },
    })
  ).data;

/** Pause, resume, cancel or re-run a request. */
export const RequestControls = ({
  request,
  size = "sm",
}: {
  readonly request: Request;
  readonly size?: "xs" | "sm";
}) => {
  const queries = useQueryClient();
  const about = useAsset(request.asset);
  const order = useMutation({
    mutationFn: (verb: Verb) => change(verb, request.id),
    onSuccess: (answer, verb) => {
      queries.setQueryData(requestKey(request.id), answer);
      tell(`Request ${request.id} ${DONE[verb]}`);
      return queries.invalidateQueries();
    },
  });
  // An asset that is no more can't say it: then the server does.
  const mayChange = about.data?.may_change ?? about.isError;
  if (!mayChange) return null;
  return (
    <>
      <HStack gap={2}>
        {verbsFor(request).map((verb) => (
          <Button
            key={verb}
            size={size}
            variant="outline"
            colorPalette={verb === "cancel" ? "red" : "brand"}
            loading={order.isPending && order.variables === verb}
            disabled={order.isPending}
            onClick={() => order.mutate(verb)}
          >
            {LABELS[verb]}
          </Button>
        ))}
      </HStack>
      {order.error ? <Refusal error={order.error} /> : null}
    </>
  );
};
