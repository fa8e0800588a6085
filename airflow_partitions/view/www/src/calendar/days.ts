import { cellAt, type Cell, type Picture } from "../grid/picture";
import type { Span } from "../grid/view";
import { dateInstant, dateText } from "../grid/zone";
import { summed, totalOf } from "../states/state";
import { ofSeveral, type Amount, type Layer } from "../values/layer";

/** Milliseconds of a day by UTC. */
export const DAY = 86_400_000;
const WEEK = 7;

/** A day by its number since 1 January 1970, whatever its length. */
export type DayNumber = number;

export const dayNumber = (at: number, zone: string): DayNumber => Date.parse(`${dateText(at, zone)}T00:00Z`) / DAY;

/** "2013-03-10" */
export const dayText = (day: DayNumber): string => new Date(day * DAY).toISOString().slice(0, 10);

/** From 0 for Monday to 6 for Sunday. */
export const weekdayOf = (day: DayNumber): number => (((day + 3) % WEEK) + WEEK) % WEEK;

/** The Monday of a day's week. */
export const mondayOf = (day: DayNumber): DayNumber => day - weekdayOf(day);

/** The first instant of a day in the zone, and that of the next. */
export const spanOf = (day: DayNumber, zone: string): Span => {
  const at = (number: DayNumber): number => dateInstant(1970, 1, 1 + number, zone);
  return { start: at(day), end: at(day + 1) };
};

/** What of each day is there, by its number: the intervals that begin in it, of all rows together. */
export const cellsByDay = (picture: Picture, zone: string): ReadonlyMap<DayNumber, Cell> => {
  const days = new Map<DayNumber, Cell>();
  const [row] = picture.rows;
  if (row === undefined) return days;
  picture.columns.forEach(({ start }, column) => {
    const cell = cellAt(picture, { column, row: 0 });
    if (cell === null || cell.total === 0) return;
    const day = dayNumber(start, zone);
    const before = days.get(day);
    days.set(day, before === undefined ? cell : together(before, cell));
  });
  return days;
};

/** The part of all intervals that is in some days, and the number of columns in which each of these is one. */
export const partOfDays = (extent: Span, days: Span, zone: string): Span & { readonly columns: number } => {
  const [start, end] = [Math.max(extent.start, days.start), Math.min(extent.end, days.end)];
  // One that has begun before these days may be in the part: its day is a column, too.
  const first = dayNumber(start, zone) - (extent.start < days.start ? 1 : 0);
  return { start, end, columns: dayNumber(end - 1, zone) - first + 1 };
};

/** The value of each day, by its number: of all partitions of its columns together. */
export const amountsByDay = (layer: Layer, picture: Picture, zone: string): ReadonlyMap<DayNumber, number> => {
  const amounts = new Map<DayNumber, Amount[]>();
  picture.columns.forEach(({ start }, column) => {
    const [amount, told] = [layer.line[column] ?? null, layer.lineTold[column] ?? 0];
    const day = dayNumber(start, zone);
    if (amount !== null) amounts.set(day, [...(amounts.get(day) ?? []), { amount, told }]);
  });
  return new Map([...amounts].map(([day, some]) => [day, ofSeveral(layer, some)]));
};

const together = (one: Cell, other: Cell): Cell => {
  const counts = summed([one.states, other.states]);
  const { column } = other;
  const count = one.column.count + column.count;
  return {
    states: counts,
    provisional: (one.provisional ?? 0) + (other.provisional ?? 0),
    column: { ...one.column, last: column.last, end: column.end, count },
    row: one.row,
    total: totalOf(counts),
  };
};

/** The whole weeks of a year that end with the week of a day, by their Mondays. */
export const weeksUntil = (day: DayNumber): readonly DayNumber[] => {
  const last = mondayOf(day);
  return Array.from({ length: 53 }, (_, i) => last - (52 - i) * WEEK);
};
