import type { Palette } from "./palette";
import { looks, type State } from "./state";

/** Marks that were drawn already: to copy one is many times faster than to draw it. */
const marks = new Map<string, HTMLCanvasElement>();

const markOf = (state: State, ink: string, size: number, ratio: number): HTMLCanvasElement => {
  const name = `${state} ${ink} ${size} ${ratio}`;
  const present = marks.get(name);
  if (present !== undefined) return present;
  const mark = document.createElement("canvas");
  mark.width = mark.height = Math.ceil(size * ratio);
  const canvas = mark.getContext("2d");
  if (canvas !== null) {
    const path = new Path2D(looks[state].path);
    canvas.scale((size * ratio) / 16, (size * ratio) / 16);
    canvas.fillStyle = canvas.strokeStyle = ink;
    // What is well recedes.
    if (state === "materialized") canvas.globalAlpha = 0.6;
    canvas.lineWidth = 1.8;
    canvas.lineCap = canvas.lineJoin = "round";
    if (looks[state].filled) canvas.fill(path);
    else canvas.stroke(path);
  }
  if (marks.size > 200) marks.clear(); // themes and zooms of long ago
  marks.set(name, mark);
  return mark;
};

/** Draws the mark of a state on a canvas, in the square of that size whose middle is at x and y. */
export const drawMark = (
  canvas: CanvasRenderingContext2D,
  palette: Palette,
  state: State,
  x: number,
  y: number,
  size: number,
): void => {
  const whole = Math.round(size);
  const mark = markOf(state, palette.ink[state], whole, window.devicePixelRatio);
  canvas.drawImage(mark, Math.round(x - whole / 2), Math.round(y - whole / 2), whole, whole);
};
