import type { Span } from "../grid/view";
import { momentText } from "../grid/zone";
import { counted } from "../page/amounts";
import { countsText, summed, type Counts } from "../states/state";
import { pickCounts, pickTitle, stretchOf, type Board, type Line, type Pick, type Slot } from "./board";

/** A place on the board: the key of a row, and the number of a column. */
export type Spot = { readonly row: string; readonly column: number };

/** Rows below each other over a stretch of time: all of their cells that begin in it. */
export type Rectangle = Span & { readonly lines: readonly Line[] };

/** What is marked or picked: cells of one row, or of several. */
export type Picked = Pick | Rectangle;

export const isRectangle = (picked: Picked): picked is Rectangle => "lines" in picked;

/** The number of the slot that goes through a column; -1 where there is none. */
export const slotAt = (slots: readonly Slot[], column: number): number =>
  slots.findIndex((slot) => slot.column <= column && column < slot.column + slot.columns);

/** The columns of the cell at a place, the first and the one after the last; one where no cell is. */
const columnsAt = ({ slots }: Line, column: number): readonly [number, number] => {
  const slot = slots?.[slotAt(slots, column)];
  return slot === undefined ? [column, column + 1] : [slot.column, slot.column + slot.columns];
};

/** All between two places, with the cells that are there; `null` where there is none. */
export const between = (board: Board, lines: readonly Line[], one: Spot, other: Spot): Picked | null => {
  const [first, second] = [one, other].map(({ row }) => lines.findIndex(({ key }) => key === row));
  const [a, b] = [lines[first ?? -1], lines[second ?? -1]];
  if (first === undefined || second === undefined || a === undefined || b === undefined) return null;
  const ends = [...columnsAt(a, one.column), ...columnsAt(b, other.column)];
  const [from, until] = [Math.min(...ends), Math.min(Math.max(...ends), board.columns.length)];
  if (a === b) {
    if (a.slots === null) return { line: a, from: 0, until: 0 };
    const inside = (slot: Slot) => slot.column < until && from < slot.column + slot.columns;
    const slot = a.slots.findIndex(inside);
    return slot < 0 ? null : { line: a, from: slot, until: a.slots.findLastIndex(inside) };
  }
  return {
    lines: lines.slice(Math.min(first, second), Math.max(first, second) + 1),
    start: Date.parse(board.columns[from]?.start ?? ""),
    end: Date.parse(board.columns[until - 1]?.end ?? ""),
  };
};

/** The cells of a row that are marked or picked. */
export const partOf = (picked: Picked, line: Line): Pick | null => {
  if (!isRectangle(picked)) return picked.line.key === line.key ? { ...picked, line } : null;
  if (line.slots === null || !picked.lines.some(({ key }) => key === line.key)) return null;
  const inside = ({ start }: Slot) => picked.start <= start && start < picked.end;
  const from = line.slots.findIndex(inside);
  return from < 0 ? null : { line, from, until: line.slots.findLastIndex(inside) };
};

/** What was picked, as it is in newer rows. */
export const renewed = (picked: Picked, lines: readonly Line[]): Picked => {
  const newer = new Map(lines.map((line) => [line.key, line]));
  const now = (line: Line) => newer.get(line.key) ?? line;
  return isRectangle(picked) ? { ...picked, lines: picked.lines.map(now) } : { ...picked, line: now(picked.line) };
};

/** Those of the rows that are no part of another one of them. */
const wholes = (lines: readonly Line[]): readonly Line[] => {
  const assets = new Set(lines.flatMap(({ value, strip }) => (value === null ? [strip.asset] : [])));
  return lines.filter(({ value, strip }) => value === null || !assets.has(strip.asset));
};

/** Numbers of the partitions of a rectangle, by state; none twice, and none without time. */
export const rectangleCounts = (rectangle: Rectangle): Counts =>
  summed(
    wholes(rectangle.lines).flatMap((line) => {
      const part = partOf(rectangle, line);
      return part === null ? [] : [pickCounts(part)];
    }),
  );

/** The assets of a rectangle: of how many it has cells, which can be filled, and in words what is left out. */
export const fillOf = ({ lines }: Rectangle) => {
  const rows = wholes(lines);
  const assets = rows.filter(({ value }) => value === null);
  const timed = assets.filter(({ slots }) => slots !== null);
  const fillable = timed.filter(({ strip }) => strip.may_change);
  const [timeless, kept] = [assets.length - timed.length, timed.length - fillable.length];
  const segments = rows.length - assets.length;
  return {
    count: new Set(rows.map(({ strip }) => strip.asset)).size,
    assets: fillable.map(({ strip }) => strip.asset),
    leftOut: [
      ...(timeless > 0 ? [`${counted(timeless, "asset")} without time`] : []),
      ...(kept > 0 ? [`${counted(kept, "asset")} that you may not change`] : []),
      ...(segments > 0 ? [`${counted(segments, "row")} of one value, without the row of all`] : []),
    ],
  };
};

/** "2013-03-01 to 2013-03-06": from when until when a rectangle is, by the clocks of the board. */
export const rectangleTime = ({ start, end }: Rectangle, board: Board): string => {
  const { until } = stretchOf([], start, end, board);
  return `${momentText(start, board.timezone)} to ${until === null ? "now" : momentText(end, board.timezone)}`;
};

/** What is marked in one line. */
export const markText = (picked: Picked, board: Board): string =>
  (isRectangle(picked)
    ? [counted(fillOf(picked).count, "asset"), rectangleTime(picked, board), countsText(rectangleCounts(picked))]
    : [picked.line.strip.asset, pickTitle(picked), countsText(pickCounts(picked))]
  )
    .map((text) => text || "no partition yet")
    .concat("marked")
    .join(", ");
