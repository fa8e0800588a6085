import { Box, Text } from "@chakra-ui/react";
import { useCallback } from "react";

import { Canvas } from "../grid/Canvas";
import { placeX } from "../grid/drawGrid";
import type { Sheet } from "../grid/sheet";
import { usePalette } from "../states/palette";
import { levelOf, type Layer } from "./layer";
import { valueText, VALUES } from "./value";

const HEIGHT = 72;
/** Room above and below for what is outside of the scale. */
const EDGE = 9;
/** Radius of a value that no line leads to. */
const DOT = 2;

/** The value over time, of all rows together: below the cells, in the same columns. */
export const ValueLine = ({ sheet, layer }: { readonly sheet: Sheet; readonly layer: Layer }) => {
  const palette = usePalette();
  const { picture, view, width } = sheet;
  const { scale, line, measure, value } = layer;
  const draw = useCallback(
    (canvas: CanvasRenderingContext2D) => {
      canvas.clearRect(0, 0, width, HEIGHT);
      if (scale === null) return;
      canvas.strokeStyle = palette.line;
      canvas.lineWidth = 1;
      for (const y of [EDGE, HEIGHT - EDGE]) canvas.strokeRect(-1, Math.round(y) + 0.5, width + 2, 0);
      canvas.strokeStyle = canvas.fillStyle = palette.value;
      canvas.lineWidth = 1.5;
      let begun = false; // a gap is where nothing is told
      canvas.beginPath();
      const outside: [number, "above" | "below"][] = [];
      const alone: [number, number][] = []; // between two gaps, where a line would be a speck
      picture.columns.forEach((column, i) => {
        const amount = line[i] ?? null;
        if (column.end <= view.start || column.start >= view.end) return;
        if (amount === null) {
          begun = false;
          return;
        }
        const level = levelOf(scale, amount);
        const x = placeX((column.start + column.end) / 2, view, width);
        const y = HEIGHT - EDGE - level.share * (HEIGHT - 2 * EDGE);
        if (begun) canvas.lineTo(x, y);
        else canvas.moveTo(x - 0.5, y);
        canvas.lineTo(x + 0.5, y);
        begun = true;
        if ((line[i - 1] ?? null) === null && (line[i + 1] ?? null) === null) alone.push([x, y]);
        if (level.outside !== null) outside.push([x, level.outside]);
      });
      canvas.stroke();
      canvas.beginPath();
      for (const [x, y] of alone) {
        canvas.moveTo(x, y);
        canvas.arc(x, y, DOT, 0, 2 * Math.PI);
      }
      canvas.fill();
      canvas.fillStyle = palette.outside;
      canvas.font = "9px system-ui, sans-serif";
      canvas.textAlign = "center";
      canvas.textBaseline = "middle";
      for (const [x, end] of outside)
        canvas.fillText(end === "above" ? "▲" : "▼", x, end === "above" ? EDGE / 2 : HEIGHT - EDGE / 2);
    },
    [palette, picture, view, width, scale, line],
  );
  if (scale === null) return null;
  const [high, low] = [scale.high, scale.low].map((amount) => valueText(measure, amount));
  const label = (amount: string | undefined) => (
    <Text fontSize="xs" lineHeight={1} color="fg.muted" ps={1} aria-hidden>
      {amount}
    </Text>
  );
  // Above and below, where no part of the line is.
  return (
    <Box
      mt={2}
      role="img"
      aria-label={`${VALUES[value]} over time, all rows together, between ${low ?? ""} and ${high ?? ""}`}
    >
      {label(high)}
      <Canvas width={width} height={HEIGHT} draw={draw} />
      {label(low)}
    </Box>
  );
};
