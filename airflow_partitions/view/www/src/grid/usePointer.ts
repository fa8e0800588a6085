import { useRef, useState, type PointerEvent, type RefObject } from "react";

import { atX, stretchOf, type Sheet } from "./sheet";
import { boxOf, type Spot } from "./spot";
import type { Cursor } from "./useCursor";
import { moved, zoomed, type Span } from "./view";

/** So many pixels the pointer may tremble in a click. */
export const TREMBLES = 4;

type Drag = {
  readonly from: Spot;
  readonly x: number;
  readonly y: number;
  readonly view: Span;
  readonly moves: boolean;
};

/** What the pointer does: a click opens, dragging selects; fingers move and zoom. */
export const usePointer = (element: RefObject<HTMLElement | null>, sheet: Sheet, cursor: Cursor) => {
  const [hover, setHover] = useState<Spot | null>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const touches = useRef(new Map<number, number>());
  const { view, bounds, onView, top, rowHeight } = sheet;

  const spotOf = ({ clientX, clientY }: PointerEvent): Spot => {
    const area = element.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
    return { at: atX(sheet, clientX - area.left), row: Math.floor((clientY - area.top + top) / rowHeight) };
  };
  const pinch = (event: PointerEvent): boolean => {
    const before = [...touches.current.values()];
    if (before.length !== 2) return false;
    touches.current.set(event.pointerId, event.clientX);
    const after = [...touches.current.values()];
    const [a = 0, b = 0, c = 0, d = 0] = [...before, ...after];
    const factor = Math.max(Math.abs(a - b), 10) / Math.max(Math.abs(c - d), 10);
    const left = element.current?.getBoundingClientRect().left ?? 0;
    onView(zoomed(view, factor, atX(sheet, (c + d) / 2 - left), bounds));
    setDrag(null);
    return true;
  };
  return {
    hover,
    /** Whether something is dragged, and the cells it goes over. */
    drags: drag?.moves ?? false,
    dragged: drag?.moves && hover ? boxOf(sheet, drag.from, hover) : null,
    handlers: {
      onPointerDown: (event: PointerEvent) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        if (event.pointerType === "touch") touches.current.set(event.pointerId, event.clientX);
        setDrag({ from: spotOf(event), x: event.clientX, y: event.clientY, view, moves: false });
      },
      onPointerMove: (event: PointerEvent) => {
        if (pinch(event)) return;
        setHover(event.pointerType === "touch" ? null : spotOf(event));
        if (drag === null) return;
        const moves = drag.moves || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > TREMBLES;
        if (!moves) return;
        if (event.pointerType === "touch") onView(moved(drag.view, stretchOf(sheet, drag.x - event.clientX), bounds));
        setDrag({ ...drag, moves });
      },
      onPointerUp: (event: PointerEvent) => {
        touches.current.delete(event.pointerId);
        if (drag === null) return;
        setDrag(null);
        const until = spotOf(event);
        const toggles = event.ctrlKey || event.metaKey;
        if (drag.moves) {
          if (event.pointerType === "touch") return;
          cursor.setAnchor(drag.from);
          cursor.select(drag.from, until, toggles);
        } else if (event.shiftKey) cursor.select(cursor.anchor ?? cursor.focus ?? until, until);
        else if (toggles) {
          cursor.setAnchor(until);
          cursor.select(until, until, true);
        } else cursor.open(until);
        cursor.setFocus(until);
      },
      onPointerCancel: () => {
        touches.current.clear();
        setDrag(null);
      },
      onPointerLeave: () => setHover(null),
    },
  };
};
