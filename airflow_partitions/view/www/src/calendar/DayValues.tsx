import { useCallback } from "react";

import { Canvas } from "../grid/Canvas";
import type { Cell } from "../grid/picture";
import { usePalette } from "../states/palette";
import { statesOf, type State } from "../states/state";
import { drawValue } from "../values/drawValue";
import type { Layer } from "../values/layer";
import type { DayNumber } from "./days";

/** The values of days, drawn as in the picture: a column for each week, a row for each weekday. */
export const DayValues = ({
  layer,
  amounts,
  weeks,
  days,
  side,
  states,
}: {
  readonly layer: Layer;
  readonly amounts: ReadonlyMap<DayNumber, number>;
  /** Their Mondays. */
  readonly weeks: readonly DayNumber[];
  readonly days: ReadonlyMap<DayNumber, Cell>;
  /** Of a day, in pixels, with the gap to the next. */
  readonly side: number;
  /** Only partitions in these states count; all if it is empty. */
  readonly states: ReadonlySet<State>;
}) => {
  const palette = usePalette();
  const [width, height] = [weeks.length * side, 7 * side];
  const draw = useCallback(
    (canvas: CanvasRenderingContext2D) => {
      canvas.clearRect(0, 0, width, height);
      weeks.forEach((monday, week) => {
        for (let weekday = 0; weekday < 7; weekday += 1) {
          const cell = days.get(monday + weekday);
          if (cell === undefined) continue;
          const dim = states.size > 0 && !statesOf(cell.states).some((state) => states.has(state));
          const amount = amounts.get(monday + weekday) ?? null;
          canvas.globalAlpha = dim ? 0.15 : 1;
          drawValue(canvas, palette, layer.scale, amount, week * side + 1, weekday * side + 1, side - 2, side - 2);
          canvas.globalAlpha = 1;
        }
      });
    },
    [palette, layer, amounts, weeks, days, side, states, width, height],
  );
  return <Canvas width={width} height={height} draw={draw} />;
};
