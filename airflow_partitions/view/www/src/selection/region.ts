import type { Span } from "../grid/view";

/** Cells side by side: a span of the axis, of all rows (`null`) or of some. */
export type Box = Span & { readonly rows: ReadonlySet<string> | null };

/** What is selected of a picture: boxes that may overlap. */
export type Region = readonly Box[];

export const holds = (region: Region, at: number, row: string | null): boolean =>
  region.some(({ start, end, rows }) => start <= at && at < end && (rows === null || (row !== null && rows.has(row))));

/** The region without the cells of a box; `all` are the rows that there are. */
export const without = (region: Region, box: Box, all: readonly string[]): Region =>
  region.flatMap((one) => {
    const start = Math.max(one.start, box.start);
    const end = Math.min(one.end, box.end);
    if (start >= end) return [one];
    const rows = one.rows ?? (box.rows === null ? null : new Set(all));
    const left = rows === null || box.rows === null ? null : new Set([...rows].filter((row) => !box.rows?.has(row)));
    if (rows !== null && left !== null && left.size === rows.size) return [one];
    const parts: Box[] = [
      { start: one.start, end: start, rows: one.rows },
      { start, end, rows: left ?? new Set<string>() },
      { start: end, end: one.end, rows: one.rows },
    ];
    return parts.filter((part) => part.start < part.end && part.rows?.size !== 0);
  });

/** The region with the cells of a box, too. */
export const withBox = (region: Region, box: Box, all: readonly string[]): Region =>
  joined([...without(region, box, all), box]);

const sameRows = (a: Box["rows"], b: Box["rows"]): boolean =>
  a === b || (a !== null && b !== null && a.size === b.size && [...a].every((row) => b.has(row)));

/** The region in fewer boxes: of boxes with the same span those of all rows, of the same rows those side by side. */
export const joined = (region: Region): Region => {
  const bySpan: Box[] = [];
  for (const box of region) {
    const i = bySpan.findIndex(({ start, end }) => start === box.start && end === box.end);
    const other = bySpan[i];
    if (other === undefined) bySpan.push(box);
    else bySpan[i] = { ...box, rows: other.rows && box.rows && new Set([...other.rows, ...box.rows]) };
  }
  const boxes: Box[] = [];
  for (const box of bySpan.sort((a, b) => a.start - b.start)) {
    const i = boxes.findIndex((other) => other.end === box.start && sameRows(other.rows, box.rows));
    const other = boxes[i];
    if (other === undefined) boxes.push(box);
    else boxes[i] = { ...other, end: box.end };
  }
  return boxes;
};
