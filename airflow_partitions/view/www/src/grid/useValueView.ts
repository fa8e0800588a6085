import { useMemo, useState } from "react";

import { LARGEST } from "./useTimeView";
import { within, type Bounds, type Span, type Viewport } from "./view";

/** Width of a column in pixels, at least, when the page opens. */
const LEAST = 12;

/** The part that is shown of columns that are no time: they have places by their number, and are there at once. */
export const useValueView = (columns: number, width: number): Viewport => {
  const [placed, setPlaced] = useState<Span | null>(null);
  const bounds = useMemo<Bounds>(() => {
    const least = width / LARGEST;
    return { start: 0, end: Math.max(columns, least), least };
  }, [columns, width]);
  const view = within(placed ?? { start: 0, end: Math.min(bounds.end, width / LEAST) }, bounds);
  return { view, bounds, onView: setPlaced };
};
