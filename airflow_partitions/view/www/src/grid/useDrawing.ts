import { useMemo } from "react";

import { useSettled } from "../page/useSettled";
import { useTrouble } from "../page/useTrouble";
import type { components } from "../rest/schema";
import type { Shown } from "../selection/usePicture";
import { askedSpan, expectedExtent, extentOf } from "./extent";
import { pictureOf } from "./picture";
import { useValues } from "../values/useValues";
import { partOf, useGrid, useWhole, type Arrangement } from "./useGrid";
import { useTimeView } from "./useTimeView";
import { useValueView } from "./useValueView";
import { tileOf } from "./view";

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
  const asked = useMemo(() => askedSpan(definition, shown.select), [definition, shown.select]);
  const time = useTimeView(extent, asked, overview, width, shown.view, shown.setView);
  const settled = useSettled(time.view, time.view, PAUSE) ?? time.view;
  const grid = useGrid(arrangement, settled, extent, width, width > 0 && (!timed || settled !== null));
  const picture = useMemo(() => pictureOf(grid.data?.pages ?? []), [grid.data]);
  const tile = settled && extent ? tileOf(settled, extent) : null;
  const part = { ...arrangement, ...partOf(tile, width) };
  const values = useValues(part, shown.value, picture, width > 0 && (!timed || settled !== null));
  const numbered = useValueView(picture?.columns.length ?? 1, width);
  const troubles = [useTrouble(grid), useTrouble(whole)];
  return {
    picture,
    layer: values.layer,
    overview,
    grid,
    ...(timed ? time : numbered),
    /** Why it can't be drawn, or not as it is now. */
    error: troubles[0] ?? troubles[1] ?? values.error ?? null,
    /** Whether there is no partition at all. */
    none: timed ? answer !== undefined && extent === null : picture?.rows.length === 0 && !arrangement.search,
  };
};
