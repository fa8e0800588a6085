const MINUTE = 60_000;

const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (zone: string): Intl.DateTimeFormat => {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      era: "short",
    });
    formats.set(zone, format);
  }
  return format;
};

/** What clocks of the zone show at an instant (in milliseconds), as milliseconds of a clock without zone. */
export const wallOf = (at: number, zone: string): number => {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  const year = parts.get("era") === "BC" ? 1 - part("year") : part("year");
  const wall = new Date(0);
  wall.setUTCFullYear(year, part("month") - 1, part("day"));
  wall.setUTCHours(part("hour"), part("minute"), part("second"));
  return wall.getTime();
};

/** How far the clocks of the zone are ahead of UTC at an instant, in milliseconds. */
export const offsetAt = (at: number, zone: string): number => wallOf(at, zone) - Math.floor(at / 1000) * 1000;

/** The first instant at which clocks of the zone show that or, where they leap over it, more. */
export const instantOf = (wall: number, zone: string): number => {
  const DAY = 24 * 60 * MINUTE;
  const before = wall - offsetAt(wall - DAY, zone);
  const after = wall - offsetAt(wall + DAY, zone);
  const valid = [before, after].filter((at) => wallOf(at, zone) === wall);
  // Where clocks leap over it, both miss it, and the larger one lies behind the leap by as much as it lies in it.
  if (valid.length > 0) return Math.min(...valid);
  return leapBetween(Math.min(before, after), Math.max(before, after), zone);
};

/** The instant after which the zone has the offset that it has at the end. */
const leapBetween = (start: number, end: number, zone: string): number => {
  const target = offsetAt(end, zone);
  let [low, high] = [start, end];
  while (high - low > MINUTE) {
    const middle = Math.floor((low + high) / 2 / MINUTE) * MINUTE;
    if (middle <= low) break;
    if (offsetAt(middle, zone) === target) high = middle;
    else low = middle;
  }
  return high;
};

/** The instant of a date in the zone: its first. Months count from 1; days and months may overflow. */
export const dateInstant = (year: number, month: number, day: number, zone: string): number => {
  const wall = new Date(0);
  wall.setUTCFullYear(year, month - 1, day);
  return instantOf(wall.getTime(), zone);
};

/** "+05:45" */
export const offsetText = (at: number, zone: string): string => {
  const minutes = Math.round(offsetAt(at, zone) / MINUTE);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
};

/** The zone of who looks. */
export const browserZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** "2013-03-10 01:00 -05:00": a moment in a zone; midnight as the date only. */
export const momentText = (at: number, zone: string): string => {
  const wall = new Date(wallOf(at, zone)).toISOString();
  const time = wall.slice(11, 16);
  return time === "00:00" ? wall.slice(0, 10) : `${wall.slice(0, 10)} ${time} ${offsetText(at, zone)}`;
};
