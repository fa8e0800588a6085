import { Box, Button, HStack, Skeleton, Text } from "@chakra-ui/react";
import { useEffect, useMemo, useState } from "react";

import { dimensionsOf } from "../grid/dimensions";
import { extentOf } from "../grid/extent";
import { keyOf, pictureOf, type Cell, type Picture } from "../grid/picture";
import { usePart, useWhole, type Arrangement } from "../grid/useGrid";
import type { Span } from "../grid/view";
import { Trouble } from "../page/Trouble";
import { useTrouble } from "../page/useTrouble";
import type { components } from "../rest/schema";
import { regionText, type Frame } from "../selection/text";
import type { Shown } from "../selection/usePicture";
import { useRegion } from "../selection/useRegion";
import { useValues } from "../values/useValues";
import { ValueLegend } from "../values/ValueLegend";
import { amountsByDay, cellsByDay, dayNumber, dayText, partOfDays, spanOf, weeksUntil, type DayNumber } from "./days";
import { SIDE, Weeks } from "./Weeks";

const YEAR = 53 * 7;
/** Height of one line of a legend in pixels, with the space above it. */
const LEGEND = 32;

/** The days of a year, a column for each week: what is missing on every Sunday is seen as a line. */
export const Calendar = ({
  arrangement,
  definition,
  shown,
  canonical,
  onSeen,
  onDrawn,
  onOpen,
}: {
  readonly arrangement: Arrangement;
  readonly definition: components["schemas"]["Definition"];
  readonly shown: Shown;
  /** What the server takes the selection for, as long as it has said so. */
  readonly canonical: string | undefined;
  /** The text that selects what is in view. */
  readonly onSeen: (text: string) => void;
  /** Once the days are there, with their values if they have some, or why there are none. */
  readonly onDrawn: () => void;
  readonly onOpen: (picture: Picture, cell: Cell, text: string) => void;
}) => {
  const { names, time, zone: own } = useMemo(() => dimensionsOf(definition), [definition]);
  const zone = own ?? "UTC";
  const [until, setUntil] = useState<DayNumber>();
  const whole = useWhole(arrangement);
  const extent = extentOf(whole.data?.pages[0]);
  const newest = extent && dayNumber(extent.end - 1, zone);
  const oldest = extent && dayNumber(extent.start, zone);
  // What is there may begin later, or end earlier, than when one chose a year.
  const last = newest === null || oldest === null ? null : Math.max(oldest, Math.min(until ?? newest, newest));
  const weeks = useMemo(() => (last === null ? [] : weeksUntil(last)), [last]);
  const [first = 0] = weeks;
  const span: Span | null =
    last === null ? null : { start: spanOf(first, zone).start, end: spanOf(first + YEAR, zone).start };
  const there = extent === null || span === null ? { columns: 1 } : partOfDays(extent, span, zone);
  const part = { ...arrangement, ...(time !== null && { across: time }), down: "", rowLimit: 1, ...there };
  const query = usePart(part, span !== null);
  const picture = useMemo(() => pictureOf(query.data?.pages ?? []), [query.data]);
  const days = useMemo(() => (picture === null ? null : cellsByDay(picture, zone)), [picture, zone]);
  const { layer, error } = useValues(part, shown.value, picture, span !== null);
  const values = useMemo(
    () => layer && picture && { layer, amounts: amountsByDay(layer, picture, zone) },
    [layer, picture, zone],
  );
  const frame = useMemo<Frame>(
    () => ({ dimensions: names, time, zone, across: time, down: null, values: [], only: arrangement.only ?? {} }),
    [names, time, zone, arrangement.only],
  );
  const [region, setRegion] = useRegion(shown.select, canonical, frame, shown.onSelect);
  const seen = span === null ? "" : regionText([{ ...span, rows: null }], frame);
  useEffect(() => onSeen(seen), [seen, onSeen]);
  const unknown = useTrouble(whole);
  const trouble = (whole.data === undefined ? unknown : null) ?? query.error ?? error;
  const none = whole.data !== undefined && extent === null;
  const isDrawn = trouble !== null || none || (days !== null && (shown.value === null || values !== null));
  useEffect(() => {
    if (isDrawn) onDrawn();
  }, [isDrawn, onDrawn]);
  if (trouble) return <Trouble error={trouble} />;
  if (none) return <Text color="fg.muted">There is no partition yet.</Text>;
  // Until it is known which year it is, the line above the days has its place, and its length.
  const [day, start, end] = [last ?? 0, oldest ?? 0, newest ?? YEAR];
  return (
    <Box>
      <HStack mb={2} wrap="wrap" visibility={days === null ? "hidden" : "visible"}>
        <Button size="xs" variant="outline" disabled={first <= start} onClick={() => setUntil(day - YEAR + 7)}>
          ← Year before
        </Button>
        <Text fontSize="sm">
          {dayText(first)} to {dayText(Math.min(first + YEAR - 1, end))} ({zone})
        </Text>
        <Button
          size="xs"
          variant="outline"
          disabled={first + YEAR > end}
          onClick={() => setUntil(day + YEAR - 7 >= end ? undefined : day + YEAR - 7)}
        >
          Year after →
        </Button>
      </HStack>
      {days === null || picture === null ? (
        <Skeleton height={`${8 * SIDE + 4}px`} />
      ) : (
        <Weeks
          label={`Calendar of ${arrangement.asset}`}
          weeks={weeks}
          days={days}
          zone={zone}
          values={values}
          states={new Set(shown.states)}
          region={region}
          onRegion={setRegion}
          partitionOf={(cell) => {
            const partition = keyOf(picture, cell, frame.dimensions, arrangement.only);
            return partition === null ? null : { asset: arrangement.asset, partition };
          }}
          onOpen={(cell, day) => {
            onOpen(picture, cell, regionText([{ ...spanOf(day, zone), rows: null }], frame));
          }}
        />
      )}
      {shown.value === null ? null : values === null || days === null ? (
        <Box height={`${LEGEND}px`} />
      ) : (
        <ValueLegend layer={values.layer} several={[...days.values()].some(({ total }) => total > 1)} />
      )}
    </Box>
  );
};
