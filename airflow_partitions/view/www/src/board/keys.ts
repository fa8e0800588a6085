import type { KeyboardEvent } from "react";

import type { Board, Line } from "./board";
import { slotAt, type Spot } from "./rectangle";
import type { Cursor } from "./useCursor";

/** Steps of keys: cells and rows. */
const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  PageUp: [0, -10],
  PageDown: [0, 10],
  Home: [-Infinity, 0],
  End: [Infinity, 0],
};

/** The slot of a row at a column, or the one before it; without time its only cell. */
export const slotNear = ({ slots }: Line, column: number): number => {
  if (slots === null) return 0;
  const slot = slotAt(slots, column);
  return slot < 0
    ? Math.max(
        0,
        slots.findLastIndex((one) => one.column <= column),
      )
    : slot;
};

/** The place so many cells and rows from another, or the last one there. */
export const stepped = (lines: readonly Line[], from: Spot, cells: number, rows: number): Spot => {
  const here = lines.findIndex(({ key }) => key === from.row);
  const line = lines[Math.max(0, Math.min(here + rows, lines.length - 1))];
  if (line === undefined) return from;
  const last = (line.slots?.length ?? 0) - 1;
  const slot = line.slots?.[Math.max(0, Math.min(slotNear(line, from.column) + cells, last))];
  // Rows up and down leave the column as it is, also where another row has longer cells, or none.
  return { row: line.key, column: cells === 0 ? from.column : (slot?.column ?? from.column) };
};

/** Does what a key means among the cells; of other keys the page hears. */
export const press = (
  event: KeyboardEvent,
  board: Board,
  lines: readonly Line[],
  cursor: Cursor,
  onReveal: (row: string) => void,
): void => {
  const { focus, anchor } = cursor;
  const step = STEPS[event.key];
  const [first] = lines;
  if (first === undefined || event.target !== event.currentTarget) return; // of a link or a button in it
  const isThere = focus !== null && lines.some(({ key }) => key === focus.row);
  if (event.key === "Escape") cursor.drop();
  else if (!isThere && (step || event.key === "Enter")) {
    cursor.setFocus({ row: first.key, column: first.slots?.at(-1)?.column ?? board.columns.length - 1 });
    onReveal(first.key);
  } else if (!isThere) return;
  else if (event.key === "Enter" || event.key === " ") cursor.pick(anchor ?? focus, focus);
  else if (step) {
    const next = stepped(lines, focus, ...step);
    cursor.setFocus(next);
    cursor.setAnchor(event.shiftKey ? (anchor ?? focus) : null);
    onReveal(next.row);
  } else return;
  event.preventDefault();
};
