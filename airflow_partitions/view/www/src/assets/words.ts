import type { components } from "../rest/schema";

type Definition = components["schemas"]["Definition"];

const number = new Intl.NumberFormat("en");

/** What partitions a definition has, in words. */
export const definitionWords = ({ dimensions, first, last, count, timezone }: Definition): string => {
  const parts = dimensions.map(({ name, kind, count: values }) =>
    kind === "interval"
      ? `interval of time${dimensions.length > 1 ? ` (${name})` : ""}`
      : values === null
        ? `${name} that runs come to know`
        : `${name} (${number.format(values)})`,
  );
  const range =
    first === null || last === null || first === last
      ? []
      : [`${first} to ${last}${timezone === null ? "" : ` in ${timezone}`}`];
  const all = count === null ? [] : [count === 0 ? "none yet" : `${number.format(count)} in all`];
  return `${[`One partition for each ${parts.join(" and ")}`, ...range, ...all].join("; ")}.`;
};
