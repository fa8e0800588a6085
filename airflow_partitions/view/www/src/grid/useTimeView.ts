import { useMemo } from "react";

import type { Extent } from "./extent";
import { lengthOf, newest, within, type Bounds, type Span } from "./view";

/** Width of an interval in pixels: when the page opens, and at most. */
const INITIAL = 16;
export const LARGEST = 48;

/** The part of the time axis that is shown: the newest (`shown` is null) until one looks elsewhere. */
export const useTimeView = (
  extent: Extent | null,
  width: number,
  shown: Span | null,
  onShown: (view: Span | null) => void,
) => {
  const interval = extent ? lengthOf(extent) / Math.max(1, extent.count) : 1;
  const bounds = useMemo<Bounds | null>(
    () => (extent && width > 0 ? { ...extent, least: (interval * width) / LARGEST } : null),
    [extent, interval, width],
  );
  const view = useMemo(
    () =>
      bounds && (shown ? within(shown, bounds) : newest(bounds, interval * Math.max(1, Math.floor(width / INITIAL)))),
    [bounds, shown, interval, width],
  );
  const onView = (next: Span) => {
    const same = lengthOf(next) === lengthOf(view ?? next);
    onShown(bounds && next.end >= bounds.end && !shown && same ? null : next);
  };
  return { view, bounds, onView };
};
