import { useState, type PointerEvent, type RefObject } from "react";

import { TREMBLES } from "../grid/usePointer";
import type { Line } from "./board";
import { columnAtX } from "./drawStrip";
import type { Spot } from "./rectangle";
import type { Cursor } from "./useCursor";

/** Where the rows lie, in pixels. */
export type Layout = {
  /** Height of a row, width of its cells, and of the names beside them. */
  readonly height: number;
  readonly width: number;
  readonly labels: number;
  readonly columns: number;
  readonly lines: readonly Line[];
};

type Drag = {
  readonly from: Spot;
  readonly until: Spot;
  readonly x: number;
  readonly y: number;
  readonly moves: boolean;
};

const clamped = (number: number, count: number): number => Math.max(0, Math.min(number, count - 1));

/** The place at so many pixels from the upper left corner of the rows, or the one next to it. */
export const spotAt = ({ height, width, labels, columns, lines }: Layout, x: number, y: number): Spot | null => {
  const line = lines[clamped(Math.floor(y / height), lines.length)];
  return line === undefined ? null : { row: line.key, column: clamped(columnAtX(columns, width, x - labels), columns) };
};

/** What the pointer does: a click picks a cell, dragging a rectangle. A finger that begins up or down scrolls the page. */
export const usePointer = (list: RefObject<HTMLElement | null>, layout: Layout, cursor: Cursor) => {
  const [drag, setDrag] = useState<Drag | null>(null);
  const spotOf = ({ clientX, clientY }: PointerEvent): Spot | null => {
    const area = list.current?.getBoundingClientRect();
    return area ? spotAt(layout, clientX - area.left, clientY - area.top) : null;
  };
  return {
    /** Between which places something is dragged. */
    dragged: drag?.moves ? drag : null,
    drop: () => setDrag(null),
    handlers: {
      onPointerDown: (event: PointerEvent) => {
        const from = spotOf(event);
        if (event.button !== 0 || from === null || !isOnCells(event)) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDrag({ from, until: from, x: event.clientX, y: event.clientY, moves: false });
      },
      onPointerMove: (event: PointerEvent) => {
        const until = spotOf(event);
        if (drag === null || until === null) return;
        const moves = hasMoved(drag, event);
        if (moves && !(drag.moves && isSame(drag.until, until))) setDrag({ ...drag, until, moves });
      },
      onPointerUp: (event: PointerEvent) => {
        const until = spotOf(event);
        setDrag(null);
        if (drag === null || until === null) return;
        // A quick pointer is gone before its last move is drawn.
        if (hasMoved(drag, event)) cursor.pick(drag.from, until);
        else cursor.pick(event.shiftKey ? (cursor.focus ?? drag.from) : drag.from, drag.from);
      },
      onPointerCancel: () => setDrag(null),
    },
  };
};

const hasMoved = ({ moves, x, y }: Drag, { clientX, clientY }: PointerEvent): boolean =>
  moves || Math.hypot(clientX - x, clientY - y) > TREMBLES;

const isOnCells = ({ target }: PointerEvent): boolean =>
  target instanceof Element && target.closest("[data-strip]") !== null;

const isSame = (one: Spot, other: Spot): boolean => one.row === other.row && one.column === other.column;
