import { CalendarDate, fromAbsolute, getLocalTimeZone, toZoned, type ZonedDateTime } from "@internationalized/date";

const two = (number: number) => String(number).padStart(2, "0");

/** What calendar and clock of the zone show at an instant (in milliseconds). */
export const clockAt = (at: number, zone: string): ZonedDateTime => fromAbsolute(at, zone);

/** How far the clocks of the zone are ahead of UTC at an instant, in milliseconds. */
export const offsetAt = (at: number, zone: string): number => clockAt(at, zone).offset;

/** The instant of a date in the zone: its first. Months and days count from 1, and may overflow. */
export const dateInstant = (year: number, month: number, day: number, zone: string): number => {
  const date = new CalendarDate(1970, 1, 1).add({ years: year - 1970, months: month - 1 }).add({ days: day - 1 });
  return toZoned(date, zone).toDate().getTime();
};

/** "2013-03-10" */
export const dateText = (at: number, zone: string): string => clockAt(at, zone).toString().slice(0, 10);

/** "01:00" */
export const timeText = (at: number, zone: string): string => {
  const { hour, minute } = clockAt(at, zone);
  return `${two(hour)}:${two(minute)}`;
};

/** "+05:45" */
export const offsetText = (at: number, zone: string): string => {
  const minutes = Math.round(offsetAt(at, zone) / 60_000);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
};

/** The zone of who looks. */
export const browserZone = getLocalTimeZone;

/** "2013-03-10 01:00 -05:00": a moment in a zone; midnight as the date only. */
export const momentText = (at: number, zone: string): string => {
  const [date, time] = [dateText(at, zone), timeText(at, zone)];
  return time === "00:00" ? date : `${date} ${time} ${offsetText(at, zone)}`;
};
