import { totalOf } from "../states/state";
import type { Answer, CellCounts, Column } from "./answer";
import type { Span } from "./view";

/** A column and where it stands on the axis. */
export type PlacedColumn = Omit<Column, "start" | "end"> & Span;

export type Row = {
  readonly value: string | null;
  /** Index of the cell of each column. */
  readonly cells: Uint32Array;
};

/** The partitions of an answer, as they are drawn. */
export type Picture = {
  readonly across: string | null;
  readonly down: string | null;
  readonly timezone: string | null;
  readonly unit: string | null;
  readonly columns: readonly PlacedColumn[];
  readonly rows: readonly Row[];
  readonly cells: readonly CellCounts[];
  readonly rowCount: number;
};

const placed = (column: Column, i: number): PlacedColumn => {
  const { start, end } = column;
  return typeof start === "string" && typeof end === "string"
    ? { ...column, start: Date.parse(start), end: Date.parse(end) }
    : { ...column, start: i, end: i + 1 };
};

/** The picture of the pages of an answer: the first page's columns, the rows of all that have the same. */
export const pictureOf = (answers: readonly Answer[]): Picture | null => {
  const [first] = answers;
  if (first === undefined) return null;
  const cells: CellCounts[] = [];
  const rows: Row[] = [];
  for (const answer of answers) {
    if (answer.columns.length !== first.columns.length) continue;
    const offset = cells.length;
    cells.push(...answer.cells);
    for (const { value, runs } of answer.rows)
      rows.push({ value, cells: unrolled(runs, answer.columns.length, offset) });
  }
  return {
    across: first.across,
    down: first.down,
    timezone: first.timezone,
    unit: first.unit,
    columns: first.columns.map(placed),
    rows,
    cells,
    rowCount: first.row_count,
  };
};

const unrolled = (runs: readonly (readonly number[])[], length: number, offset: number): Uint32Array => {
  const cells = new Uint32Array(length);
  let column = 0;
  for (const [count = 0, cell = 0] of runs) cells.fill(offset + cell, column, (column += count));
  return cells;
};

/** The names of the rows. */
export const namesOf = ({ rows }: Picture): readonly string[] =>
  rows.flatMap(({ value }) => (value === null ? [] : [value]));

/** The number of the column at a place of the axis; -1 where there is none. */
export const columnAt = (columns: readonly Span[], at: number): number => {
  const i = firstEnding(columns, at);
  const column = columns[i];
  return column !== undefined && column.start <= at ? i : -1;
};

/** The number of the first column that ends behind a place. */
export const firstEnding = (columns: readonly Span[], at: number): number => {
  let [low, high] = [0, columns.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((columns[middle]?.end ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** A cell by the numbers of its column and row. */
export type Place = { readonly column: number; readonly row: number };

/** All about a cell. */
export type Cell = CellCounts & {
  readonly column: PlacedColumn;
  readonly row: Row;
  readonly total: number;
};

export const cellAt = (picture: Picture, { column, row }: Place): Cell | null => {
  const oneColumn = picture.columns[column];
  const oneRow = picture.rows[row];
  if (oneColumn === undefined || oneRow === undefined) return null;
  const counts = picture.cells[oneRow.cells[column] ?? 0] ?? { states: {} };
  return { ...counts, column: oneColumn, row: oneRow, total: totalOf(counts.states) };
};

const escaped = (text: string): string => text.replace(/[\\|]/g, "\\$&");

/** The key of the one partition of a cell; `null` if it is of several or none, or dimensions are left open. */
export const keyOf = (
  picture: Picture,
  cell: Cell,
  dimensions: readonly string[],
  only: Readonly<Record<string, string>> = {},
): string | null => {
  if (cell.total !== 1 || cell.column.count !== 1) return null;
  const values = dimensions.map((name) =>
    name === picture.across ? cell.column.first : name === picture.down ? cell.row.value : (only[name] ?? null),
  );
  const texts = values.filter((value) => value !== null);
  if (texts.length !== dimensions.length) return null;
  return texts.length === 1 ? (texts[0] ?? null) : texts.map(escaped).join("|");
};
