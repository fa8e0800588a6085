import { duration, number, size } from "../page/amounts";
import type { components } from "../rest/schema";

export type Value = components["schemas"]["Value"];
type Measure = components["schemas"]["CellValues"]["measure"];

/** What a partition may be measured by, with what it is called. */
export const VALUES: Readonly<Record<Value, string>> = {
  rows: "Rows written",
  bytes: "Bytes written",
  files: "Files written",
  seconds: "Time taken",
  read_rows: "Rows read",
  read_bytes: "Bytes read",
  read_files: "Files read",
  tries: "Tries",
  age: "Age",
};

export const isValue = (text: string): text is Value => Object.hasOwn(VALUES, text);

const few = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** A number in what it is measured in, as one reads it. */
export const valueText = (measure: Measure, amount: number): string => {
  if (measure === "seconds") return duration(amount);
  if (measure === "bytes") return size(amount);
  return Number.isInteger(amount) ? number(amount) : few.format(amount);
};
