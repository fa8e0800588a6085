import { useMemo } from "react";

import { useSettled } from "../page/useSettled";
import type { components } from "../rest/schema";
import type { Shown } from "../selection/usePicture";
import { expectedExtent, extentOf } from "./extent";
import { pictureOf } from "./picture";
import { useGrid, useWhole, type Arrangement } from "./useGrid";
import { useTimeView } from "./useTimeView";
import { useValueView } from "./useValueView";

/** How long a view stands still before it is asked for, in milliseconds. */
const PAUSE = 120;

/** What there is to draw: the partitions in view and all of them in small, asked for as one looks elsewhere. */
export const useDrawing = (
  arrangement: Arrangement,
  definition: components["schemas"]["Definition"],
  shown: Shown,
  timed: boolean,
  width: number,
) => {
  const whole = useWhole(arrangement);
  const answer = whole.data?.pages[0];
  const overview = useMemo(() => pictureOf(whole.data?.pages ?? []), [whole.data]);
  const extent = useMemo(
    () => (timed ? (answer === undefined ? expectedExtent(definition) : extentOf(answer)) : null),
    [timed, answer, definition],
  );
  const time = useTimeView(extent, width, shown.view, shown.setView);
  const settled = useSettled(time.view, PAUSE) ?? time.view;
  const grid = useGrid(arrangement, settled, extent, width, width > 0 && (!timed || settled !== null));
  const picture = useMemo(() => pictureOf(grid.data?.pages ?? []), [grid.data]);
  const values = useValueView(picture?.columns.length ?? 1, width);
  return {
    picture,
    overview,
    grid,
    ...(timed ? time : values),
    error: grid.error ?? whole.error,
    /** Whether there is no partition at all. */
    none: timed ? answer !== undefined && extent === null : picture?.rows.length === 0 && !arrangement.search,
  };
};
