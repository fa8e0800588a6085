import { clockAt, dateInstant, dateText, offsetText, timeText } from "../grid/zone";
import { joined, type Box, type Region } from "./region";

/** What the cells of a picture stand for, as far as a selection says it. */
export type Frame = {
  /** Names of the definition's dimensions, in its order. */
  readonly dimensions: readonly string[];
  /** Name of the time dimension. */
  readonly time: string | null;
  readonly zone: string;
  readonly across: string | null;
  readonly down: string | null;
  /** Values of the columns where across is no time. */
  readonly values: readonly string[];
  /** Of dimensions that are neither across nor down, the only value that is shown. */
  readonly only: Readonly<Record<string, string>>;
};

const whole = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };

/** What a value must not have unless it is in quotes: as the server has it. */
const special = /[,;&="]|\.\.|\sin\s|^\s|\s$|^$|^all$|^latest$/;

export const written = (value: string): string => (special.test(value) ? JSON.stringify(value) : value);

/** A moment as the server reads it: a date at its first instant, else with the offset. */
export const boundText = (at: number, zone: string): string => {
  if (!Number.isFinite(at)) return "";
  const { year, month, day, second } = clockAt(at, zone);
  const date = dateText(at, zone);
  if (dateInstant(year, month, day, zone) === at) return date;
  const seconds = second === 0 ? "" : `:${String(second).padStart(2, "0")}`;
  return `${date}T${timeText(at, zone)}${seconds}${offsetText(at, zone)}`;
};

/** The text of a region, which `regionOf` reads back; empty for an empty one. */
export const regionText = (region: Region, frame: Frame): string => {
  const times = new Map<string, string[]>();
  for (const box of joined(region)) {
    if (box.rows?.size === 0) continue;
    const conditions = conditionsOf(box, frame).join(" & ");
    const spans = times.get(conditions) ?? [];
    if (frame.time !== null && frame.across === frame.time) {
      const { start, end } = box;
      if (!Number.isFinite(start) && !Number.isFinite(end)) spans.push("");
      else spans.push(end - start === 1 ? boundText(start, frame.zone) : spanText(start, end, frame.zone));
    }
    times.set(conditions, spans);
  }
  return [...times]
    .map(
      ([conditions, spans]) =>
        [spans.includes("") ? "" : spans.join(", "), conditions].filter(Boolean).join(" & ") || allText(frame),
    )
    .join("; ");
};

/** Of a sequence `all` may be a key; with the name of the dimension it is not. */
const allText = ({ dimensions: [only], dimensions, time }: Frame): string =>
  only !== undefined && dimensions.length === 1 && time === null ? `${only} in all` : "all";

const spanText = (start: number, end: number, zone: string): string => {
  const first = boundText(start, zone);
  const next = boundText(end, zone);
  const range = periodOf(first, zone);
  return range?.start === start && range.end === end ? first : `${first}..${next}`;
};

const conditionsOf = (box: Box, frame: Frame): readonly string[] =>
  frame.dimensions.flatMap((name) => {
    const values =
      name === frame.down
        ? box.rows && [...box.rows]
        : name === frame.across && name !== frame.time && Number.isFinite(box.start) && Number.isFinite(box.end)
          ? frame.values.slice(box.start, box.end)
          : null;
    const one = frame.only[name];
    if (values === null) return one === undefined ? [] : [`${name} in ${written(one)}`];
    const list = values.map(written).join(",");
    // Several values of a sequence have its name, too: without it, `a,b` may be a key.
    return [frame.dimensions.length === 1 && values.length === 1 ? list : `${name} in ${list}`];
  });

/** The cells that a text of ours, or the server's canonical one, selects; `null` where the picture can't show it. */
export const regionOf = (text: string, frame: Frame): Region | null => {
  try {
    return joined(
      split(text, ";").flatMap((part) =>
        split(part, "&")
          .map((term) => termOf(term.trim(), frame))
          .reduce(common),
      ),
    );
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
};

/** What is no such text, or of dimensions that are not shown. */
class Unreadable extends Error {}

const condition = /^([\p{L}\p{N}_]+) in (.*)$/su;

const termOf = (term: string, frame: Frame): Region => {
  const match = condition.exec(term);
  const [, name, items] = match ?? [];
  if (name === undefined || items === undefined) return split(term, ",").flatMap((item) => itemOf(item.trim(), frame));
  if (!frame.dimensions.includes(name)) throw new Unreadable();
  return valuesOf(
    name,
    split(items, ",").map((item) => item.trim()),
    frame,
  );
};

/** What is listed without the name of a dimension: times, keys, or values of the only dimension. */
const itemOf = (item: string, frame: Frame): Region => {
  if (item === "all") return [{ ...whole, rows: null }];
  const [only] = frame.dimensions;
  if (frame.dimensions.length === 1 && only !== undefined) return valuesOf(only, [item], frame);
  const value = unquoted(item);
  const parts = value.includes("|") ? keyParts(value) : null;
  if (parts !== null) {
    if (parts.length !== frame.dimensions.length) throw new Unreadable();
    return frame.dimensions.map((name, i) => valuesOf(name, [JSON.stringify(parts[i] ?? "")], frame)).reduce(common);
  }
  if (frame.time === null) throw new Unreadable();
  return valuesOf(frame.time, [item], frame);
};

const valuesOf = (name: string, items: readonly string[], frame: Frame): Region => {
  if (name === frame.time) {
    if (frame.across !== frame.time) throw new Unreadable();
    return items.map((item) => ({ ...timesOf(item, frame.zone), rows: null }));
  }
  if (items.includes("all")) return [{ ...whole, rows: null }];
  const values = items.map(unquoted);
  if (name === frame.down) return [{ ...whole, rows: new Set(values) }];
  const only = frame.only[name];
  if (only !== undefined) return values.includes(only) ? [{ ...whole, rows: null }] : [];
  if (name !== frame.across) throw new Unreadable();
  return values.flatMap((value) => {
    const i = frame.values.indexOf(value);
    return i < 0 ? [] : [{ start: i, end: i + 1, rows: null }];
  });
};

const timesOf = (item: string, zone: string) => {
  const text = unquoted(item);
  if (text === "all") return whole;
  const [first, next] = text.split("..");
  if (first !== undefined && next !== undefined)
    return {
      start: first.trim() ? boundOf(first.trim(), zone) : whole.start,
      end: next.trim() ? boundOf(next.trim(), zone) : whole.end,
    };
  const period = periodOf(text, zone);
  if (period !== null) return period;
  const at = boundOf(text, zone);
  return { start: at, end: at + 1 };
};

const boundOf = (text: string, zone: string): number => {
  const period = periodOf(text, zone);
  if (period !== null) return period.start;
  const at = /(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new Unreadable();
  return at;
};

/** The instant at which a date or a time with its offset begins; `null` if it is neither. */
export const momentOf = (text: string, zone: string): number | null => {
  try {
    return boundOf(text, zone);
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
};

/** The year, month or day of that text. */
const periodOf = (text: string, zone: string) => {
  const match = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(text);
  if (match === null) return null;
  const [, year = "", month, day] = match;
  const [y, m, d] = [Number(year), Number(month ?? 1), Number(day ?? 1)];
  const next = month === undefined ? [y + 1, 1, 1] : day === undefined ? [y, m + 1, 1] : [y, m, d + 1];
  return { start: dateInstant(y, m, d, zone), end: dateInstant(next[0] ?? y, next[1] ?? m, next[2] ?? d, zone) };
};

const common = (left: Region, right: Region): Region =>
  left.flatMap((one) =>
    right.flatMap((other) => {
      const start = Math.max(one.start, other.start);
      const end = Math.min(one.end, other.end);
      const rows =
        one.rows === null
          ? other.rows
          : other.rows === null
            ? one.rows
            : new Set([...one.rows].filter((row) => other.rows?.has(row)));
      return start < end && rows?.size !== 0 ? [{ start, end, rows }] : [];
    }),
  );

/** The parts of a text between separators that are not in quotes. */
const split = (text: string, separator: string): readonly string[] => {
  const parts: string[] = [""];
  for (const [piece] of text.matchAll(/"(?:[^"\\]|\\.)*"|./gsu)) {
    if (piece === '"') throw new Unreadable();
    if (piece === separator) parts.push("");
    else parts.push((parts.pop() ?? "") + piece);
  }
  return parts;
};

const unquoted = (item: string): string => {
  if (item === "") throw new Unreadable();
  if (!item.includes('"')) return item;
  try {
    return String(JSON.parse(item));
  } catch {
    throw new Unreadable();
  }
};

/** The texts of the dimensions in a key of a product. */
export const keyParts = (key: string): readonly string[] => {
  const parts: string[] = [""];
  for (const [piece] of key.matchAll(/\\.|./gsu)) {
    if (piece === "|") parts.push("");
    else parts.push((parts.pop() ?? "") + (piece.length > 1 && piece.startsWith("\\") ? piece.slice(1) : piece));
  }
  return parts;
};
