import { countsText } from "../states/state";
import type { Cell } from "./picture";
import { momentText } from "./zone";

/** What the columns and row of a cell are called. */
export const cellName = ({ column, row }: Cell): string => {
  const { first, last, count } = column;
  const across = first === null ? null : first === last ? first : `${first} to ${last ?? ""} (${String(count)})`;
  return [across, row.value].filter((text) => text !== null).join(" | ");
};

/** From when until when the intervals of a cell are, in a zone. */
export const boundsText = ({ column }: Cell, zone: string): string =>
  `${momentText(column.start, zone)} to ${momentText(column.end, zone)}`;

/** All of a cell in one line. */
export const cellText = (cell: Cell, zone: string | null): string =>
  [
    cellName(cell) || "all partitions",
    countsText(cell.states) || "no partition yet",
    ...(cell.provisional ? [`${String(cell.provisional)} before the interval was over`] : []),
    ...(zone === null ? [] : [boundsText(cell, zone)]),
  ].join(", ");
