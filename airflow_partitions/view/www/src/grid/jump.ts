import { statesOf, type State } from "../states/state";
import type { Picture, PlacedColumn } from "./picture";
import { lengthOf, moved, within, type Bounds, type Span } from "./view";

/** The columns that begin before a view, or end after it, and have partitions in one of the states. */
const beyond = (picture: Picture, states: ReadonlySet<State>, view: Span, side: "before" | "after"): PlacedColumn[] => {
  const such = picture.cells.map((cell) => statesOf(cell.states).some((state) => states.has(state)));
  return picture.columns.filter(
    (column, i) =>
      (side === "before" ? column.start < view.start : column.end > view.end) &&
      picture.rows.some(({ cells }) => such[cells[i] ?? -1]),
  );
};

/** The view moved to the nearest partitions before or after it that are in one of the states; `null` without any. */
export const jumped = (
  picture: Picture,
  states: ReadonlySet<State>,
  view: Span,
  bounds: Bounds,
  side: "before" | "after",
): Span | null => {
  const column = beyond(picture, states, view, side).at(side === "before" ? -1 : 0);
  if (column === undefined) return null;
  if (lengthOf(column) > lengthOf(view)) return within(column, bounds);
  return moved(view, (column.start + column.end - view.start - view.end) / 2, bounds);
};
