import { holds, type Region } from "../selection/region";
import { drawMark } from "../states/drawMark";
import type { Palette } from "../states/palette";
import { shares } from "../states/shares";
import { countsText, statesOf, totalOf, type State } from "../states/state";
import { drawValue } from "../values/drawValue";
import type { Layer } from "../values/layer";
import type { CellCounts } from "./answer";
import { firstEnding, type Picture, type Place } from "./picture";
import { lengthOf, type Span } from "./view";

/** What stands on the canvas, in CSS pixels. */
export type Scene = {
  readonly picture: Picture;
  readonly view: Span;
  readonly width: number;
  readonly height: number;
  /** Of a row, and how far they are scrolled. */
  readonly rowHeight: number;
  readonly top: number;
  readonly region: Region;
  /** Only partitions in these states count; all if it is empty. */
  readonly states: ReadonlySet<State>;
  readonly focus: Place | null;
  readonly hover: Place | null;
  /** What is being dragged over. */
  readonly drag: Region;
  /** By what the cells are coloured; by their states where it is left out. */
  readonly layer?: Layer | null;
  /** Whether there is room for marks. */
  readonly marks: boolean;
};

/** Where a place of the axis is, in pixels. */
export const placeX = (at: number, view: Span, width: number): number => ((at - view.start) / lengthOf(view)) * width;

/** Whether a cell is selected: of one interval if it begins in the region, of several if some may be in it. */
export const isSelected = (region: Region, column: Span & { readonly count: number }, row: string | null): boolean =>
  column.count === 1
    ? holds(region, column.start, row)
    : region.some(
        ({ start, end, rows }) =>
          start < column.end && column.start < end && (rows === null || (row !== null && rows.has(row))),
      );

/** Draws what is seen of a picture. */
export const drawGrid = (canvas: CanvasRenderingContext2D, palette: Palette, scene: Scene): void => {
  const { picture, view, width, height, rowHeight, top } = scene;
  canvas.clearRect(0, 0, width, height);
  const firstRow = Math.max(0, Math.floor(top / rowHeight));
  const lastRow = Math.min(picture.rows.length, Math.ceil((top + height) / rowHeight));
  const firstColumn = firstEnding(picture.columns, view.start);
  for (let row = firstRow; row < lastRow; row += 1) drawRow(canvas, palette, scene, row, firstColumn);
  for (const [place, line] of [
    [scene.hover, 1],
    [scene.focus, 2],
  ] as const) {
    const column = place && picture.columns[place.column];
    if (!place || !column || place.row < firstRow || place.row >= lastRow) continue;
    const x = placeX(column.start, view, width);
    const end = Math.max(placeX(column.end, view, width), x + 3);
    canvas.strokeStyle = palette.text;
    canvas.lineWidth = line;
    canvas.strokeRect(x - 0.5, place.row * rowHeight - top + 0.5, end - x, rowHeight - 1);
  }
};

const drawRow = (
  canvas: CanvasRenderingContext2D,
  palette: Palette,
  scene: Scene,
  row: number,
  first: number,
): void => {
  const { picture, view, width, rowHeight, top, states, region, drag } = scene;
  const one = picture.rows[row];
  if (one === undefined) return;
  const y = row * rowHeight - top + 1;
  const height = rowHeight - 2;
  for (let i = first; i < picture.columns.length; i += 1) {
    const column = picture.columns[i];
    if (column === undefined || column.start >= view.end) break;
    const cell = picture.cells[one.cells[i] ?? 0];
    if (cell === undefined) continue;
    const x = placeX(column.start, view, width);
    const end = placeX(column.end, view, width);
    const gap = end - x >= 5 ? 1 : 0;
    const length = Math.max(end - x - gap, 1);
    const dim = states.size > 0 && !statesOf(cell.states).some((state) => states.has(state));
    canvas.globalAlpha = dim ? 0.15 : 1;
    if (scene.layer && totalOf(cell.states) > 0)
      drawValue(canvas, palette, scene.layer.scale, scene.layer.at(i, row), x, y, length, height);
    else drawCell(canvas, palette, cell, x, y, length, height, scene.marks);
    canvas.globalAlpha = 1;
    if (
      !dim &&
      totalOf(cell.states) > 0 &&
      (isSelected(region, column, one.value) || isSelected(drag, column, one.value))
    ) {
      canvas.fillStyle = canvas.strokeStyle = palette.focus;
      canvas.globalAlpha = 0.35;
      canvas.fillRect(x, y, length + gap, height);
      canvas.globalAlpha = 1;
      canvas.fillRect(x, y, length + gap, 2);
      canvas.fillRect(x, y + height - 2, length + gap, 2);
    }
  }
  if (picture.across === null) {
    const cell = picture.cells[one.cells[0] ?? 0];
    const end = placeX(picture.columns[0]?.end ?? 0, view, width);
    canvas.fillStyle = palette.muted;
    canvas.font = "13px system-ui, sans-serif";
    canvas.textBaseline = "middle";
    const total = cell ? totalOf(cell.states) : 0;
    const text = cell ? (total === 1 ? statesOf(cell.states)[0] : countsText(cell.states)) : "";
    canvas.fillText(text ?? "", end + 10, y + height / 2);
  }
};

/** Draws the states of a cell as shares of its height. */
export const drawCell = (
  canvas: CanvasRenderingContext2D,
  palette: Palette,
  cell: CellCounts,
  x: number,
  y: number,
  length: number,
  height: number,
  marks: boolean,
): void => {
  const present = statesOf(cell.states);
  const [only] = present;
  if (only === undefined) {
    canvas.fillStyle = palette.line;
    canvas.globalAlpha *= 0.5;
    canvas.fillRect(x, y + height - 1, length, 1);
    return;
  }
  if (present.length === 1) {
    canvas.fillStyle = palette.area[only];
    canvas.fillRect(x, y, length, height);
    if (marks && Math.min(length, height) >= 10)
      drawMark(canvas, palette, only, x + length / 2, y + height / 2, Math.min(length, height, 16));
    if (marks && cell.provisional && length >= 6) drawCorner(canvas, palette, x + length, y);
    return;
  }
  let from = y;
  for (const { state, length: part } of shares(cell.states, height, 3)) {
    canvas.fillStyle = palette.area[state];
    canvas.fillRect(x, from, length, part);
    if (marks && Math.min(length, part) >= 12) drawMark(canvas, palette, state, x + length / 2, from + part / 2, 12);
    from += part;
  }
};

/** A corner is missing of what was materialized before its interval was over. */
const drawCorner = (canvas: CanvasRenderingContext2D, palette: Palette, x: number, y: number): void => {
  canvas.fillStyle = palette.ground;
  canvas.beginPath();
  canvas.moveTo(x - 5, y);
  canvas.lineTo(x, y);
  canvas.lineTo(x, y + 5);
  canvas.fill();
};
