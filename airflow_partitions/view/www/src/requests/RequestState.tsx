import { Badge } from "@chakra-ui/react";

import type { Request } from "./request";

const COLOURS: Readonly<Record<Request["state"], string>> = {
  creating: "queued",
  running: "running",
  paused: "warning",
  stopped: "warning",
  cancelled: "gray",
  done: "success",
  failed: "failed",
};

/** The state of a request, in a word. */
export const RequestState = ({ state }: Pick<Request, "state">) => (
  <Badge colorPalette={COLOURS[state]} variant="subtle">
    {state}
  </Badge>
);
