import { Badge } from "@chakra-ui/react";

const PALETTES = ["success", "failed", "running", "queued"];

/** Airflow's state of a run, in its colour. */
export const RunState = ({ state }: { readonly state: string }) => (
  <Badge colorPalette={PALETTES.includes(state) ? state : "gray"} variant="subtle">
    {state}
  </Badge>
);
