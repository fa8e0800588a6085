import { Mark } from "./Mark";
import { looks, type State } from "./state";

/** A state as a coloured square with its mark; give `label={null}` where its name stands beside it. */
export const StateMark = ({
  state,
  size = "1em",
  label = state,
}: {
  readonly state: State;
  readonly size?: string;
  readonly label?: string | null;
}) => <Mark look={looks[state]} size={size} label={label} />;
