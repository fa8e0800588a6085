import { useEffect, type RefObject } from "react";

import { atX, stretchOf, type Sheet } from "./sheet";
import { moved, zoomed } from "./view";

/** Has the wheel zoom with Control, and move with Shift; React listens without the right to keep the page in place. */
export const useWheel = (element: RefObject<HTMLElement | null>, sheet: Sheet): void =>
  useEffect(() => {
    const area = element.current;
    const { view, bounds, onView } = sheet;
    const turn = (event: WheelEvent) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const x = event.clientX - (area?.getBoundingClientRect().left ?? 0);
        onView(zoomed(view, Math.exp(event.deltaY / 300), atX(sheet, x), bounds));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        onView(moved(view, stretchOf(sheet, event.deltaX || event.deltaY), bounds));
      }
    };
    area?.addEventListener("wheel", turn, { passive: false });
    return () => area?.removeEventListener("wheel", turn);
  });
