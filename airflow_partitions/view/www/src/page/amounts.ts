const numbers = new Intl.NumberFormat("en");

/** A number as one reads it: 1,234. */
export const number = (value: number): string => numbers.format(value);

/** A number of things: 1 partition, 1,234 partitions. */
export const counted = (value: number, noun: string): string => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

/** Seconds in the two greatest units: 45 s, 3 min 20 s, 2 h 5 min, 3 d 4 h. */
export const duration = (seconds: number): string => {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const units = [
    [86_400, "d"],
    [3_600, "h"],
    [60, "min"],
    [1, "s"],
  ] as const;
  let rest = Math.round(seconds);
  const parts: string[] = [];
  for (const [length, unit] of units) {
    const whole = Math.floor(rest / length);
    rest -= whole * length;
    if (whole > 0) parts.push(`${number(whole)} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
};

/** Bytes in a unit that leaves few digits: 512 B, 1.5 kB, 20 MB. */
export const size = (bytes: number): string => {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.5 ? Math.round(value) : Number(value.toPrecision(2))} ${units[unit] ?? ""}`;
};
