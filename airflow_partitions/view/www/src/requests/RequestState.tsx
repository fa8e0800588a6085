import { Badge } from "@chakra-ui/react";

import type { Request } from "./request";

const COLOURS: Readonly<Record<Request["state"], string>> = {
  creating: "queued",
  running: "running",
  paused: "warning",
  stopped: "warning",
  failed: "failed",
  cancelled: "gray",
  done: "success",
};

/** All states of a request, in the order of its life. */
export const requestStates = Object.keys(COLOURS) as readonly Request["state"][];

/** The state of a request, in a word. */
export const RequestState = ({ state }: Pick<Request, "state">) => (
  <Badge colorPalette={COLOURS[state]} variant="subtle">
    {state}
  </Badge>
);
