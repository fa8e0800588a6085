import type { State } from "../states/state";
import type { Picture } from "./picture";
import { lengthOf, newest, within, type Bounds, type Span } from "./view";

/** Whether something is there, or was asked for. */
const isSomething = (states: Readonly<Partial<Record<State, number>>>): boolean =>
  Object.entries(states).some(([state, count]) => state !== "missing" && count > 0);

/**
 * The part of the axis to show first, that long: what is asked for; else the newest (`null`), or where there is nothing but missing partitions,
 * the newest part in which there is something.
 */
export const openingView = (
  { columns, rows, cells }: Picture,
  asked: Span | null,
  bounds: Bounds,
  length: number,
): Span | null => {
  const first = newest(bounds, length);
  if (asked !== null) {
    const end = Math.max(asked.end, asked.start + length);
    return asked.start >= first.start ? null : within({ start: asked.start, end }, bounds);
  }
  const last = columns.findLast((_, i) => rows.some((row) => isSomething(cells[row.cells[i] ?? 0]?.states ?? {})));
  if (last === undefined || last.end > first.start) return null;
  // Zoomed out, a column stands for many intervals: all of it is shown.
  const shown = Math.max(length, lengthOf(last));
  return within({ start: last.end - shown, end: last.end }, bounds);
};
