import { clockAt, dateInstant, offsetAt, offsetText, timeText } from "./zone";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Where a line of the axis stands, what is written there, and whether something larger begins. */
export type Tick = { readonly at: number; readonly text: string; readonly strong: boolean };

type Step = { readonly unit: "time" | "day" | "month" | "year"; readonly count: number; readonly length: number };

const times = [1, 5, 15, 30].map((count) => count * MINUTE).concat([1, 3, 6, 12].map((count) => count * HOUR));
const steps: readonly Step[] = [
  ...times.map((length): Step => ({ unit: "time", count: length, length })),
  ...[1, 2, 7, 14].map((count): Step => ({ unit: "day", count, length: count * DAY })),
  ...[1, 3, 6].map((count): Step => ({ unit: "month", count, length: count * 30 * DAY })),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((count): Step => ({
    unit: "year",
    count,
    length: count * 365 * DAY,
  })),
];

const longest: Step = { unit: "year", count: 2000, length: 2000 * 365 * DAY };

const stepFor = (least: number): Step => steps.find(({ length }) => length >= least) ?? longest;

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The lines of a time axis from start to end in the zone, at least that many milliseconds apart. */
export const timeTicks = (start: number, end: number, least: number, zone: string): readonly Tick[] => {
  const step = stepFor(least);
  return step.unit === "time" ? clockTicks(start, end, step.length, zone) : dateTicks(start, end, step, zone);
};

/** Lines at whole steps of the zone's clocks; hours that come twice are told apart by their offset. */
const clockTicks = (start: number, end: number, step: number, zone: string): readonly Tick[] => {
  const aligned = (at: number): number => {
    const over = (((at + offsetAt(at, zone)) % step) + step) % step;
    return over === 0 ? at : over * 2 <= step ? at - over : at + step - over;
  };
  const ticks: Tick[] = [];
  let changed: number | undefined;
  for (let at = aligned(start - (start % MINUTE)); at < end;) {
    const { day, month, year } = clockAt(at, zone);
    const time = timeText(at, zone);
    const offset = offsetAt(at, zone);
    // Once with the change of the offset, so that one sees which of two hours of the same name this is.
    const shifted = changed !== undefined && changed !== offset;
    changed = offset;
    const midnight = time === "00:00";
    const date = `${String(day)} ${months[month - 1] ?? ""}${month === 1 && day === 1 ? ` ${String(year)}` : ""}`;
    const text = midnight ? date : shifted ? `${time} ${offsetText(at, zone)}` : time;
    if (at >= start) ticks.push({ at, text, strong: midnight });
    const next = aligned(at + step);
    at = next > at ? next : at + step;
  }
  return ticks;
};

const dateTicks = (start: number, end: number, step: Step, zone: string): readonly Tick[] => {
  const first = clockAt(start, zone);
  const ticks: Tick[] = [];
  const add = (at: number): boolean => {
    if (at >= end) return false;
    const { day, month, year } = clockAt(at, zone);
    if (at >= start) ticks.push({ at, ...nameOf(step.unit, year, month, day) });
    return true;
  };
  if (step.unit === "year") {
    for (let year = Math.floor(first.year / step.count) * step.count; ; year += step.count)
      if (!add(dateInstant(year, 1, 1, zone))) break;
  } else if (step.unit === "month") {
    for (let month = 1; ; month += step.count) if (!add(dateInstant(first.year, month, 1, zone))) break;
  } else if (step.count < 7) {
    // In each month anew from its first day, so that lines stay where they are while one moves.
    for (let month = first.month; ; month += 1) {
      const next = dateInstant(first.year, month + 1, 1, zone);
      let more = true;
      for (let day = 1; more && day <= 31 - (step.count - 1); day += step.count) {
        const at = dateInstant(first.year, month, day, zone);
        if (at >= next) break;
        more = add(at);
      }
      if (!more || next >= end) break;
    }
  } else {
    // Mondays, counted from one.
    const monday = Date.UTC(1970, 0, 5) / DAY;
    const days = Math.floor(Date.UTC(first.year, first.month - 1, first.day) / DAY);
    for (let day = monday + Math.floor((days - monday) / step.count) * step.count; ; day += step.count)
      if (!add(dateInstant(1970, 1, 1 + day, zone))) break;
  }
  return ticks;
};

const nameOf = (unit: Step["unit"], year: number, month: number, day: number) => {
  if (unit === "year") return { text: String(year), strong: true };
  const name = months[month - 1] ?? "";
  if (month === 1 && day === 1)
    return { text: unit === "month" ? String(year) : `1 Jan ${String(year)}`, strong: true };
  return unit === "month" ? { text: name, strong: false } : { text: `${String(day)} ${name}`, strong: day === 1 };
};
