import type { CellCounts } from "../grid/answer";
import { drawCell } from "../grid/drawGrid";
import type { Palette } from "../states/palette";
import { statesOf, totalOf, type State } from "../states/state";
import type { Slot } from "./board";

/** A row of a board, in CSS pixels. */
export type StripScene = {
  readonly slots: readonly Slot[];
  readonly cells: readonly CellCounts[];
  /** Number of all columns of the board. */
  readonly columns: number;
  readonly width: number;
  readonly height: number;
  /** Only partitions in these states count; all if it is empty. */
  readonly states: ReadonlySet<State>;
  /** The slots that are marked or picked, first and last; and that under the pointer or the cursor. */
  readonly picked: readonly [number, number] | null;
  readonly spot: number | null;
};

/** Where a slot begins and ends, in pixels. */
export const slotX = (slot: Slot, columns: number, width: number): readonly [number, number] => [
  Math.round((slot.column / columns) * width),
  Math.round((Math.min(columns, slot.column + slot.columns) / columns) * width),
];

/** The number of the column so many pixels from the left. */
export const columnAtX = (columns: number, width: number, x: number): number => Math.floor((x / width) * columns);

/** Draws a row: its slots, what is marked or picked in a colour of its own, and a frame around it and what is pointed at. */
export const drawStrip = (canvas: CanvasRenderingContext2D, palette: Palette, scene: StripScene): void => {
  const { slots, cells, columns, width, height, states, picked, spot } = scene;
  canvas.clearRect(0, 0, width, height);
  slots.forEach((slot, i) => {
    const cell = cells[i];
    if (cell === undefined || totalOf(cell.states) === 0) return;
    const [x, end] = slotX(slot, columns, width);
    const gap = end - x >= 5 ? 1 : 0;
    canvas.globalAlpha = states.size > 0 && !statesOf(cell.states).some((state) => states.has(state)) ? 0.15 : 1;
    drawCell(canvas, palette, cell, x, 1, Math.max(end - x - gap, 1), height - 2, end - x >= 12);
    canvas.globalAlpha = 1;
  });
  for (const [from, until, line] of [
    ...(picked === null ? [] : ([[...picked, 2]] as const)),
    ...(spot === null ? [] : ([[spot, spot, 1]] as const)),
  ]) {
    const [first, last] = [slots[from], slots[until]];
    if (first === undefined || last === undefined) continue;
    const [x] = slotX(first, columns, width);
    const [, end] = slotX(last, columns, width);
    if (line === 2) {
      canvas.fillStyle = palette.focus;
      canvas.globalAlpha = 0.35;
      canvas.fillRect(x, 1, end - x - 1, height - 2);
      canvas.globalAlpha = 1;
    }
    canvas.strokeStyle = line === 2 ? palette.focus : palette.text;
    canvas.lineWidth = line;
    canvas.strokeRect(x, line / 2, Math.max(end - x - 1, 3), height - line);
  }
};
