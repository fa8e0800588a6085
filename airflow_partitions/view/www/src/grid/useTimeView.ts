import { useMemo, useState } from "react";

import type { Extent } from "./extent";
import { openingView } from "./opening";
import type { Picture } from "./picture";
import { lengthOf, newest, within, type Bounds, type Span } from "./view";

/** Width of an interval in pixels: when the page opens, and at most. */
const INITIAL = 16;
export const LARGEST = 48;

/** The part of the time axis that is shown: that in which something is (`shown` is null) until one looks elsewhere. */
export const useTimeView = (
  extent: Extent | null,
  /** What was asked for by a selection; `null` if it names no time. */
  asked: Span | null,
  /** All of the axis, as soon as it is there. */
  overview: Picture | null,
  width: number,
  shown: Span | null,
  onShown: (view: Span | null) => void,
) => {
  const interval = extent ? lengthOf(extent) / Math.max(1, extent.count) : 1;
  const bounds = useMemo<Bounds | null>(
    () => (extent && width > 0 ? { ...extent, least: (interval * width) / LARGEST } : null),
    [extent, interval, width],
  );
  const length = interval * Math.max(1, Math.floor(width / INITIAL));
  // Found once, so that it stays where it is while partitions come and go; `null` for the newest.
  const [opening, setOpening] = useState<Span | null>();
  if (opening === undefined && overview && bounds) setOpening(openingView(overview, asked, bounds, length));
  const view = useMemo(() => {
    const chosen = shown ?? opening;
    if (bounds === null || chosen === undefined) return null;
    return chosen ? within(chosen, bounds) : newest(bounds, length);
  }, [bounds, shown, opening, length]);
  const onView = (next: Span) => {
    const same = lengthOf(next) === lengthOf(view ?? next);
    onShown(bounds && next.end >= bounds.end && !shown && !opening && same ? null : next);
  };
  return { view, bounds, onView };
};
