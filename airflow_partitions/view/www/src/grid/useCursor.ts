import { useState } from "react";

import { withBox, without, type Region } from "../selection/region";
import { isSelected } from "./drawGrid";
import { namesOf, type Cell } from "./picture";
import type { Sheet } from "./sheet";
import { boxOf, cellOf, type Spot } from "./spot";

/** Where one is among the cells, and what is done from there, with the pointer as with keys. */
export const useCursor = (
  sheet: Sheet,
  region: Region,
  onRegion: (region: Region) => void,
  onOpen: (cell: Cell) => void,
) => {
  const [focus, setFocus] = useState<Spot | null>(null);
  const [anchor, setAnchor] = useState<Spot | null>(null);
  const { picture } = sheet;
  return {
    region,
    onRegion,
    focus,
    setFocus,
    /** Where the newest selection began. */
    anchor,
    setAnchor,
    /** Selects the cells between two; with *toggles* adds them, or takes them out where the first is selected. */
    select: (from: Spot, until: Spot, toggles = false): void => {
      const box = boxOf(sheet, from, until);
      if (box === null) return;
      const names = namesOf(picture);
      const cell = cellOf(picture, from);
      if (!toggles) onRegion([box]);
      else if (cell && isSelected(region, cell.column, cell.row.value)) onRegion(without(region, box, names));
      else onRegion(withBox(region, box, names));
    },
    open: (spot: Spot): void => {
      const cell = cellOf(picture, spot);
      if (cell) onOpen(cell);
    },
  };
};

export type Cursor = ReturnType<typeof useCursor>;
