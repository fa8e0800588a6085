import { Box } from "@chakra-ui/react";
import { useCallback, useRef } from "react";

import { usePalette } from "../states/palette";
import type { State } from "../states/state";
import { Canvas } from "./Canvas";
import { drawGrid, placeX } from "./drawGrid";
import type { Picture } from "./picture";
import { lengthOf, moved, within, zoomed, type Bounds, type Span } from "./view";

/** In pixels. */
export const HEIGHT = 28;

/** All of the time axis in small; what is in the frame is seen in large. */
export const Minimap = ({
  picture,
  bounds,
  view,
  width,
  states,
  onView,
}: {
  readonly picture: Picture;
  readonly bounds: Bounds;
  readonly view: Span;
  readonly width: number;
  readonly states: ReadonlySet<State>;
  readonly onView: (view: Span) => void;
}) => {
  const palette = usePalette();
  const grip = useRef<{ x: number; view: Span; side: "all" | "start" | "end" } | null>(null);
  const draw = useCallback(
    (canvas: CanvasRenderingContext2D) =>
      drawGrid(canvas, palette, {
        picture,
        view: bounds,
        width,
        height: HEIGHT,
        rowHeight: HEIGHT,
        top: 0,
        region: [],
        drag: [],
        states,
        focus: null,
        hover: null,
        marks: false,
      }),
    [palette, picture, bounds, width, states],
  );
  const left = placeX(view.start, bounds, width);
  const right = Math.max(placeX(view.end, bounds, width), left + 6);
  const at = (x: number) => bounds.start + (x / width) * lengthOf(bounds);
  return (
    <Box
      position="relative"
      height={`${HEIGHT}px`}
      mb={1}
      cursor="pointer"
      touchAction="none"
      role="slider"
      tabIndex={0}
      aria-label="Part of all partitions that is shown"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(((view.end - bounds.start) / lengthOf(bounds)) * 100)}
      aria-valuetext={new Date(view.start).toISOString().slice(0, 10)}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -0.25, ArrowRight: 0.25, PageUp: -1, PageDown: 1 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        onView(moved(view, by * lengthOf(view), bounds));
      }}
      onWheel={(event) => onView(zoomed(view, Math.exp(event.deltaY / 400), at(event.nativeEvent.offsetX), bounds))}
      onPointerDown={(event) => {
        const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
        event.currentTarget.setPointerCapture(event.pointerId);
        const side = Math.abs(x - left) < 5 ? "start" : Math.abs(x - right) < 5 ? "end" : "all";
        const start = at(x) - lengthOf(view) / 2;
        const inside = side !== "all" || (x > left && x < right);
        const from = inside ? view : within({ start, end: start + lengthOf(view) }, bounds);
        if (!inside) onView(from);
        grip.current = { x, view: from, side };
      }}
      onPointerMove={(event) => {
        if (grip.current === null) return;
        const { x, view: from, side } = grip.current;
        const by = at(event.clientX - event.currentTarget.getBoundingClientRect().left) - at(x);
        if (side === "all") onView(moved(from, by, bounds));
        else if (side === "start")
          onView(within({ ...from, start: Math.min(from.start + by, from.end - bounds.least) }, bounds));
        else onView(within({ ...from, end: Math.max(from.end + by, from.start + bounds.least) }, bounds));
      }}
      onPointerUp={() => (grip.current = null)}
      onPointerCancel={() => (grip.current = null)}
    >
      <Canvas width={width} height={HEIGHT} draw={draw} />
      <Box position="absolute" top={0} left={0} width={`${left}px`} height="100%" bg="bg" opacity={0.6} />
      <Box position="absolute" top={0} left={`${right}px`} right={0} height="100%" bg="bg" opacity={0.6} />
      <Box
        position="absolute"
        top="-1px"
        bottom="-1px"
        left={`${left}px`}
        width={`${right - left}px`}
        borderWidth="2px"
        borderColor="brand.solid"
        borderRadius="sm"
      />
    </Box>
  );
};
