import type { components } from "../rest/schema";
import { splitKey } from "./key";

type Definition = components["schemas"]["Definition"];

/** The text of a selection: a partition, and all of the same segments before it; none without time. */
export const before = (definition: Definition, key: string, end: string | null): string | undefined => {
  if (end === null) return undefined;
  const parts = splitKey(key);
  const conditions = definition.dimensions.flatMap(({ name, kind }, index) =>
    kind === "interval" ? [] : [`${name} = ${JSON.stringify(parts[index] ?? "")}`],
  );
  return [`..${end}`, ...conditions].join(" & ");
};
