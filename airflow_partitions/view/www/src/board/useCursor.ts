import { useState } from "react";

import type { Board, Line } from "./board";
import { between, type Picked, type Spot } from "./rectangle";

/** Where one is among the cells, and what is marked or picked from there, with the pointer as with keys. */
export const useCursor = (board: Board, lines: readonly Line[], onPick: (picked: Picked | null) => void) => {
  const [focus, setFocus] = useState<Spot | null>(null);
  const [anchor, setAnchor] = useState<Spot | null>(null);
  return {
    focus,
    setFocus,
    /** Where what is marked began. */
    anchor,
    setAnchor,
    marked: anchor && focus ? between(board, lines, anchor, focus) : null,
    /** Tells what is between two places. */
    pick: (from: Spot, until: Spot): void => {
      const picked = between(board, lines, from, until);
      setFocus(until);
      setAnchor(null);
      if (picked !== null) onPick(picked);
    },
    /** Nothing is marked or picked any more. */
    drop: (): void => {
      setAnchor(null);
      onPick(null);
    },
  };
};

export type Cursor = ReturnType<typeof useCursor>;
