import { number } from "../page/amounts";
import type { components } from "../rest/schema";

type Definition = components["schemas"]["Definition"];

/** What partitions a definition has, in words. */
export const definitionWords = ({ dimensions, first, last, count, timezone }: Definition): string => {
  const parts = dimensions.map(({ name, kind, count: values }) =>
    kind === "interval"
      ? `interval of time${dimensions.length > 1 ? ` (${name})` : ""}`
      : values === null
        ? `${name} that runs come to know`
        : `${name} (${number(values)})`,
  );
  const range =
    first === null || last === null || first === last
      ? []
      : [`${first} to ${last}${timezone === null ? "" : ` in ${timezone}`}`];
  const all = count === null ? [] : [count === 0 ? "none yet" : `${number(count)} in all`];
  return `${[`One partition for each ${parts.join(" and ")}`, ...range, ...all].join("; ")}.`;
};
