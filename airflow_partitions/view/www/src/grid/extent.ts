import type { components } from "../rest/schema";
import { keyParts, momentOf, regionOf } from "../selection/text";
import type { Answer } from "./answer";
import { dimensionsOf } from "./dimensions";
import type { Span } from "./view";

type Definition = components["schemas"]["Definition"];

/** All intervals of an asset: from when until when, and how many. */
export type Extent = Span & { readonly count: number };

/** What an answer says of all intervals. */
export const extentOf = (answer: Answer | undefined): Extent | null => {
  const { start, end, count } = answer?.extent ?? {};
  if (typeof start !== "string" || typeof end !== "string" || count === undefined) return null;
  return { start: Date.parse(start), end: Date.parse(end), count };
};

/** What a definition says of them, nearly: enough to ask for the newest before all is counted. */
export const expectedExtent = ({ dimensions, first, last, count, timezone }: Definition): Extent | null => {
  const time = dimensions.findIndex(({ kind }) => kind === "interval");
  if (time < 0 || first === null || last === null || count === null) return null;
  const others = dimensions.reduce((product, { count: values }) => product * (values ?? 1), 1);
  const intervals = count / others;
  const [start, end] = [first, last].map((key) =>
    momentOf((dimensions.length > 1 ? keyParts(key)[time] : key) ?? "", timezone ?? "UTC"),
  );
  if (typeof start !== "number" || typeof end !== "number" || intervals < 2) return null;
  return { start, end: end + (end - start) / (intervals - 1), count: intervals };
};

/** From when until when that is what a text selects; `null` where it does not say it. */
export const askedSpan = (definition: Definition, select: string): Span | null => {
  const { names, time, zone } = dimensionsOf(definition);
  if (time === null || select === "") return null;
  const down = names.find((name) => name !== time) ?? null;
  const region =
    regionOf(select, { dimensions: names, time, zone: zone ?? "UTC", across: time, down, values: [], only: {} }) ?? [];
  const start = Math.min(...region.map((box) => box.start));
  const end = Math.max(...region.map((box) => box.end));
  return Number.isFinite(start) && Number.isFinite(end) ? { start, end } : null;
};
