import { Text } from "@chakra-ui/react";
import { useEffect, useState } from "react";

const units = [
  ["day", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;

/** How long it is until then, in one unit: "due in 12 min". */
export const due = (at: Date, now: Date): string => {
  const seconds = (at.getTime() - now.getTime()) / 1000;
  if (seconds <= 0) return "due now";
  for (const [unit, length] of units) {
    const whole = Math.floor(seconds / length);
    if (whole >= (unit === "day" ? 2 : 1)) return `due in ${whole} ${unit}${unit === "day" ? "s" : ""}`;
  }
  return "due in less than a minute";
};

/** When a partition is due, as time goes on. */
export const Due = ({ at }: { readonly at: string }) => {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const clock = setInterval(() => setNow(new Date()), 20_000);
    return () => clearInterval(clock);
  }, []);
  const moment = new Date(at);
  return (
    <Text as="time" fontSize="xs" color="fg.muted" title={moment.toLocaleString()}>
      {due(moment, now)}
    </Text>
  );
};
