import type { Palette } from "../states/palette";
import { levelOf, opacityOf, type Scale } from "./layer";

/** Draws the value of a cell: the more, the more of its colour; what is outside of the scale has a mark at that end. */
export const drawValue = (
  canvas: CanvasRenderingContext2D,
  palette: Palette,
  scale: Scale | null,
  amount: number | null,
  x: number,
  y: number,
  length: number,
  height: number,
): void => {
  if (amount === null || scale === null) {
    canvas.fillStyle = palette.muted;
    canvas.globalAlpha *= 0.6;
    canvas.fillRect(x + length / 4, y + height / 2 - 0.5, Math.max(length / 2, 1), 1);
    return;
  }
  const level = levelOf(scale, amount);
  const alpha = canvas.globalAlpha;
  canvas.fillStyle = palette.value;
  canvas.globalAlpha = alpha * opacityOf(level);
  canvas.fillRect(x, y, length, height);
  canvas.globalAlpha = alpha;
  if (level.outside === null) return;
  const above = level.outside === "above";
  const part = Math.min(Math.max(height / 3, 4), 8);
  canvas.fillStyle = palette.outside;
  canvas.fillRect(x, above ? y : y + height - part, length, part);
  if (length < 8 || height < 16) return;
  const middle = x + length / 2;
  const from = above ? y + part + 7 : y + height - part - 7;
  canvas.beginPath();
  canvas.moveTo(middle, above ? from - 5 : from + 5);
  canvas.lineTo(middle - 4, from);
  canvas.lineTo(middle + 4, from);
  canvas.fill();
};
