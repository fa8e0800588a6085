import type { Box } from "../selection/region";
import { cellAt, columnAt, namesOf, type Cell, type Picture, type Place } from "./picture";
import type { Sheet } from "./sheet";

/** A cell by its place on the axis, which stays what it is when columns change. */
export type Spot = { readonly at: number; readonly row: number };

export const placeOf = (picture: Picture, spot: Spot | null): Place | null => {
  const column = spot === null ? -1 : columnAt(picture.columns, spot.at);
  return spot === null || column < 0 || spot.row >= picture.rows.length ? null : { column, row: spot.row };
};

export const cellOf = (picture: Picture, spot: Spot | null): Cell | null => {
  const place = placeOf(picture, spot);
  return place && cellAt(picture, place);
};

/** The cells between two; all rows are what they are also when others come. */
export const boxOf = ({ picture, rowsInAll }: Sheet, one: Spot, other: Spot): Box | null => {
  const [from, until] = one.at < other.at ? [one, other] : [other, one];
  const first = picture.columns[columnAt(picture.columns, from.at)];
  const last = picture.columns[columnAt(picture.columns, until.at)];
  if (first === undefined || last === undefined) return null;
  const [low, high] = [Math.min(one.row, other.row), Math.max(one.row, other.row)];
  const all = high - low + 1 >= rowsInAll;
  return {
    ...(picture.across === null ? { start: -Infinity, end: Infinity } : { start: first.start, end: last.end }),
    rows: picture.down === null || all ? null : new Set(namesOf(picture).slice(low, high + 1)),
  };
};

/** The cell in view that is the newest, in the uppermost row. */
export const newestSpot = ({ picture, view, top, rowHeight }: Sheet): Spot => {
  const column = picture.columns.findLast(({ start, end }) => start < view.end && end > view.start);
  return { at: column?.start ?? view.start, row: Math.floor(top / rowHeight) };
};

/** The cell so many columns and rows from another, or the last one there. */
export const stepped = (picture: Picture, from: Spot, columns: number, rows: number): Spot => {
  const i = columnAt(picture.columns, from.at);
  const column = picture.columns[Math.max(0, Math.min(i + columns, picture.columns.length - 1))];
  return {
    at: columns === 0 || i < 0 ? from.at : (column?.start ?? from.at),
    row: Math.max(0, Math.min(from.row + rows, picture.rows.length - 1)),
  };
};
