import { Box, VisuallyHidden } from "@chakra-ui/react";
import { useId, useRef } from "react";

import type { Region } from "../selection/region";
import { usePalette } from "../states/palette";
import type { State } from "../states/state";
import type { PartitionName } from "../states/useReasons";
import { layerText } from "../values/layer";
import { Canvas } from "./Canvas";
import { CellNote } from "./CellNote";
import { cellText } from "./cellText";
import { drawGrid, isSelected, placeX } from "./drawGrid";
import { press } from "./keys";
import { cellAt, type Cell } from "./picture";
import type { Sheet } from "./sheet";
import { newestSpot, placeOf } from "./spot";
import { useCursor } from "./useCursor";
import { usePointer } from "./usePointer";
import { useWheel } from "./useWheel";

/** The cells of a picture on a canvas: what is under the pointer, what is selected, and ways to both by keys. */
export const Cells = ({
  sheet,
  zone,
  states,
  region,
  label,
  partitionOf,
  onOpen,
  onRegion,
  onReveal,
}: {
  readonly sheet: Sheet;
  /** Of the axis; `null` if it is no time. */
  readonly zone: string | null;
  readonly states: ReadonlySet<State>;
  readonly region: Region;
  readonly label: string;
  /** The one partition of a cell, where it is one. */
  readonly partitionOf: (cell: Cell) => PartitionName | null;
  /** What to do with a cell that is clicked. */
  readonly onOpen: (cell: Cell) => void;
  readonly onRegion: (region: Region) => void;
  /** Scroll to where a row is seen. */
  readonly onReveal: (row: number) => void;
}) => {
  const { picture, layer, view, width, height, rowHeight, top } = sheet;
  const palette = usePalette();
  const help = useId();
  const element = useRef<HTMLDivElement>(null);
  const cursor = useCursor(sheet, region, onRegion, onOpen);
  const { hover, drags, dragged, handlers } = usePointer(element, sheet, cursor);
  useWheel(element, sheet);
  const { focus, setFocus } = cursor;
  const place = placeOf(picture, hover ?? focus);
  const cell = place && cellAt(picture, place);
  const value =
    layer && place && cell && cell.total > 0
      ? layerText(layer, layer.at(place.column, place.row), cell.total > 1)
      : null;
  const scene = {
    ...sheet,
    region,
    states,
    focus: placeOf(picture, focus),
    hover: placeOf(picture, hover),
    drag: dragged ? [dragged] : [],
    marks: true,
  };
  return (
    <Box
      ref={element}
      position="relative"
      role="application"
      aria-roledescription="picture of partitions"
      aria-label={label}
      aria-describedby={help}
      tabIndex={0}
      width={`${width}px`}
      height={`${height}px`}
      cursor={cell && cell.total > 0 ? "pointer" : "default"}
      userSelect="none"
      touchAction="pan-y"
      borderRadius="sm"
      _focusVisible={{ outline: "2px solid", outlineColor: "brand.focusRing", outlineOffset: "2px" }}
      {...handlers}
      onKeyDown={(event) => press(event, sheet, cursor, onReveal)}
      onFocus={(event) => {
        if (focus === null && event.currentTarget.matches(":focus-visible")) setFocus(newestSpot(sheet));
      }}
      onBlur={() => setFocus(null)}
    >
      <Canvas width={width} height={height} draw={(canvas) => drawGrid(canvas, palette, scene)} />
      <VisuallyHidden id={help}>
        Arrows go from cell to cell, with Shift they select; Space adds or removes a cell, Enter opens it, Control and A
        selects all in view, Escape none; plus and minus zoom, Page Up and Page Down move, Home and End go to the oldest
        and newest.
      </VisuallyHidden>
      <VisuallyHidden aria-live="polite">
        {focus && cell
          ? `${cellText(cell, zone)}${value === null ? "" : `, ${value}`}${isSelected(region, cell.column, cell.row.value) ? ", selected" : ""}`
          : ""}
      </VisuallyHidden>
      {place && cell && cell.total > 0 && !drags ? (
        <CellNote
          cell={cell}
          zone={zone}
          value={value}
          partition={partitionOf(cell)}
          x={placeX((Math.max(cell.column.start, view.start) + Math.min(cell.column.end, view.end)) / 2, view, width)}
          y={place.row * rowHeight - top}
          height={rowHeight}
          area={element}
        />
      ) : null}
    </Box>
  );
};
