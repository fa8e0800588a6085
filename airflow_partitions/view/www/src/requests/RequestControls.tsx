import { Button, HStack } from "@chakra-ui/react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { Refusal } from "../page/Refusal";
import { useAsset } from "../assets/useAsset";
import { tell } from "../page/toasts";
import { ChangeDialog } from "./ChangeDialog";
import { requestKey, type Request } from "./request";
import { change, LABELS, type Verb, verbsFor } from "./verbs";

const DONE: Readonly<Record<Verb, string>> = {
  delete: "deleted",
  pause: "paused: runs that are at work go on",
  resume: "goes on",
  cancel: "cancelled: runs that are at work go on",
  retry: "runs again what failed",
};

/** Pause, resume, cancel or re-run a request. */
export const RequestControls = ({
  request,
  size = "sm",
  onDeleted,
}: {
  readonly request: Request;
  readonly size?: "xs" | "sm";
  /** What comes after it was deleted, where it can be. */
  readonly onDeleted?: () => void;
}) => {
  const [deletes, setDeletes] = useState(false);
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
      <HStack gap={2} wrap="wrap">
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
        {onDeleted === undefined ? null : (
          <>
            <Button size={size} variant="outline" colorPalette="red" onClick={() => setDeletes(true)}>
              {LABELS.delete}…
            </Button>
            <ChangeDialog
              verb="delete"
              requests={[request]}
              open={deletes}
              onClose={() => setDeletes(false)}
              onDone={onDeleted}
            />
          </>
        )}
      </HStack>
      {order.error ? <Refusal error={order.error} /> : null}
    </>
  );
};
