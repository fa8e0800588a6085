import { duration, number } from "../page/amounts";
import type { components } from "../rest/schema";

type Definition = components["schemas"]["Definition"];

/** Why Airflow can't run a Dag, in a word or two. */
export const causes: Readonly<Record<components["schemas"]["Absence"]["cause"], string>> = {
  "import-error": "import error",
  missing: "gone",
  unreadable: "unreadable",
};

/** What partitions a definition has, in words. */
export const definitionWords = ({ dimensions, first, last, count, timezone }: Definition): string => {
  const parts = dimensions.map(({ name, kind, count: values }) =>
    kind === "interval"
      ? `interval of time${dimensions.length > 1 ? ` (${name})` : ""}`
      : values === null
        ? `key of ${name}`
        : `${name} (${number(values)})`,
  );
  const range =
    first === null || last === null || first === last
      ? []
      : [`${first} to ${last}${timezone === null ? "" : ` in ${timezone}`}`];
  const added = dimensions.some(({ kind, count: values }) => kind !== "interval" && values === null)
    ? ["tasks add them"]
    : [];
  const all = count === null ? [] : [count === 0 ? "none yet" : `${number(count)} in all`];
  return `${[`One partition for each ${parts.join(" and ")}`, ...range, ...added, ...all].join("; ")}.`;
};

/** How long intervals are, in a word, as their schedule says it: "daily", "each 15 min", "cron 0 6 * * 1". */
const paceWord = (form: Readonly<Record<string, unknown>>): string => {
  const { schedule } = form;
  if (typeof schedule === "string") return schedule.startsWith("@") ? schedule.slice(1) : `cron ${schedule}`;
  const length = isObject(schedule) ? schedule["microseconds"] : undefined;
  return typeof length === "number" ? `each ${duration(length / 1e6)}` : "intervals";
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** The form of the time dimension of a definition, which may be one of several. */
const timeForm = (form: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const parts = Object.values(form).find(Array.isArray) as readonly unknown[] | undefined;
  return "schedule" in form ? form : ((parts ?? []).filter(isObject).find((part) => "schedule" in part) ?? {});
};

const kinds: Readonly<Record<string, string>> = { sequence: "segments", runtime: "keys at run time" };

/** What partitions a definition has, in few words: "daily, UTC", "hourly × airport, America/New_York". */
export const kindWords = ({ kind, dimensions, timezone, form }: Definition): string => {
  const words = dimensions.map((dimension) =>
    dimension.kind === "interval" ? paceWord(timeForm(form)) : dimension.name,
  );
  const what = kinds[kind] ?? words.join(" × ");
  return timezone === null ? what : `${what}, ${timezone}`;
};
