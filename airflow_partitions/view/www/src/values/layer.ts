import type { Column } from "../grid/answer";
import type { Picture } from "../grid/picture";
import type { components } from "../rest/schema";
import { valueText, VALUES, type Value } from "./value";

type CellValues = components["schemas"]["CellValues"];

/** Ends of a scale, and of what is on it; `null` where no partition tells a value. */
export type Scale = { readonly least: number; readonly low: number; readonly high: number; readonly most: number };

/** Where a value is: on the scale from 0 to 1, or outside of it. */
export type Level = { readonly share: number; readonly outside: "above" | "below" | null };

/** A value in each cell of a picture. */
export type Layer = {
  readonly value: Value;
  readonly measure: CellValues["measure"];
  readonly ofSeveral: CellValues["of_several"];
  readonly scale: Scale | null;
  /** Numbers of partitions that tell a value, and that could and do not. */
  readonly told: number;
  readonly untold: number;
  /** The value of a cell; `null` where none is told. */
  readonly at: (column: number, row: number) => number | null;
  /** The same of all rows together, for each column. */
  readonly line: readonly (number | null)[];
  /** How many partitions tell one, for each column. */
  readonly lineTold: readonly number[];
};

const nameOf = ({ first, last }: Pick<Column, "first" | "last">): string => `${first ?? ""} ${last ?? ""}`;

/** The values of the pages of an answer, in the cells of a picture that may have been asked for at another time. */
export const layerOf = (answers: readonly CellValues[], picture: Picture): Layer | null => {
  const first = answers.at(-1);
  if (first === undefined) return null;
  const named = new Map(first.columns.map((column, i) => [nameOf(column), i]));
  const columns = picture.columns.map((column) => named.get(nameOf(column)) ?? -1);
  const rows = new Map(answers.flatMap((answer) => answer.rows.map(({ value, values }) => [value, values] as const)));
  const { least, low, high, most } = first;
  return {
    value: first.value,
    measure: first.measure,
    ofSeveral: first.of_several,
    scale: least === null || low === null || high === null || most === null ? null : { least, low, high, most },
    told: first.told,
    untold: first.untold,
    at: (column, row) => rows.get(picture.rows[row]?.value ?? null)?.[columns[column] ?? -1] ?? null,
    line: columns.map((i) => first.line[i] ?? null),
    lineTold: columns.map((i) => first.line_told[i] ?? 0),
  };
};

/** A value of several partitions together. */
export type Amount = { readonly amount: number; readonly told: number };

/** What some values are together, as the server says it of the partitions of a cell: in a mean each partition counts. */
export const ofSeveral = ({ ofSeveral: total }: Layer, amounts: readonly Amount[]): number =>
  total === "most"
    ? Math.max(...amounts.map(({ amount }) => amount))
    : amounts.reduce((sum, { amount, told }) => sum + amount * told, 0) /
      amounts.reduce((sum, { told }) => sum + told, 0);

/** Where a value is on a scale; of a scale without length in the middle. */
export const levelOf = ({ low, high }: Scale, value: number): Level => ({
  share: high === low ? 0.5 : Math.min(1, Math.max(0, (value - low) / (high - low))),
  outside: value > high ? "above" : value < low ? "below" : null,
});

/** How much of its colour a value has: the smallest is seen, too. */
export const opacityOf = ({ share }: Level): number => 0.12 + 0.88 * share;

/** "Rows written: 1,234 (above the scale)". */
export const layerText = ({ value, measure, scale, ofSeveral }: Layer, amount: number | null, several: boolean) => {
  if (amount === null || scale === null) return `${VALUES[value]}: not told`;
  const { outside } = levelOf(scale, amount);
  const marks = [
    ...(several ? [ofSeveral === "mean" ? "mean" : "the most of them"] : []),
    ...(outside === null ? [] : [outside === "above" ? "among the largest 1 %" : "among the smallest 1 %"]),
  ];
  return `${VALUES[value]}: ${valueText(measure, amount)}${marks.length > 0 ? ` (${marks.join(", ")})` : ""}`;
};
