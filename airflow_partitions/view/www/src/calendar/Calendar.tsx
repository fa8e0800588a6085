import { Box, Button, HStack, Skeleton, Text } from "@chakra-ui/react";
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from "react";

import { CellNote } from "../grid/CellNote";
import { cellText } from "../grid/cellText";
import { dimensionsOf } from "../grid/dimensions";
import { extentOf } from "../grid/extent";
import { keyOf, pictureOf, type Cell, type Picture } from "../grid/picture";
import { usePart, useWhole, type Arrangement } from "../grid/useGrid";
import type { Span } from "../grid/view";
import { Trouble } from "../page/Trouble";
import type { components } from "../rest/schema";
import { holds, withBox, without, type Region } from "../selection/region";
import { regionText, type Frame } from "../selection/text";
import type { Shown } from "../selection/usePicture";
import { useRegion } from "../selection/useRegion";
import type { PartitionName } from "../states/useReasons";
import { cellsByDay, dayNumber, dayText, spanOf, weekdayOf, weeksUntil, type DayNumber } from "./days";
import { DayCell } from "./DayCell";

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;
const NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] as const;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
const YEAR = 53 * 7;
/** Side of a day in pixels, with the gap to the next. */
const SIDE = 18;
/** So that a year of hours comes in parts of a day. */
const COLUMNS = 2000;
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -7, ArrowRight: 7, ArrowUp: -1, ArrowDown: 1 };

/** The days of a year, a column for each week: what is missing on every Sunday is seen as a line. */
export const Calendar = ({
  arrangement,
  definition,
  shown,
  canonical,
  onSeen,
  onOpen,
}: {
  readonly arrangement: Arrangement;
  readonly definition: components["schemas"]["Definition"];
  readonly shown: Shown;
  /** What the server takes the selection for, as long as it has said so. */
  readonly canonical: string | undefined;
  /** The text that selects what is in view. */
  readonly onSeen: (text: string) => void;
  readonly onOpen: (picture: Picture, cell: Cell, text: string) => void;
}) => {
  const { names, time, zone: own } = useMemo(() => dimensionsOf(definition), [definition]);
  const zone = own ?? "UTC";
  const [until, setUntil] = useState<DayNumber>();
  const extent = extentOf(useWhole(arrangement).data?.pages[0]);
  const newest = extent && dayNumber(extent.end - 1, zone);
  const oldest = extent && dayNumber(extent.start, zone);
  const last = until ?? newest;
  const weeks = useMemo(() => (last === null ? [] : weeksUntil(last)), [last]);
  const [first = 0] = weeks;
  const span: Span | null =
    last === null ? null : { start: spanOf(first, zone).start, end: spanOf(first + YEAR, zone).start };
  const part = { ...arrangement, ...(time !== null && { across: time }), down: "", columns: COLUMNS, rowLimit: 1 };
  const query = usePart({ ...part, ...span }, span !== null);
  const picture = useMemo(() => pictureOf(query.data?.pages ?? []), [query.data]);
  const days = useMemo(() => (picture === null ? null : cellsByDay(picture, zone)), [picture, zone]);
  const frame = useMemo<Frame>(
    () => ({ dimensions: names, time, zone, across: time, down: null, values: [], only: arrangement.only ?? {} }),
    [names, time, zone, arrangement.only],
  );
  const [region, setRegion] = useRegion(shown.select, canonical, frame, shown.onSelect);
  const seen = span === null ? "" : regionText([{ ...span, rows: null }], frame);
  useEffect(() => onSeen(seen), [seen, onSeen]);
  if (query.error) return <Trouble error={query.error} />;
  if (days === null || picture === null || last === null || oldest === null || newest === null)
    return <Skeleton height={`${9 * SIDE + 32}px`} />;
  return (
    <Box>
      <HStack mb={2} wrap="wrap">
        <Button size="xs" variant="outline" disabled={first <= oldest} onClick={() => setUntil(last - YEAR + 7)}>
          ← Year before
        </Button>
        <Text fontSize="sm">
          {dayText(first)} to {dayText(Math.min(first + YEAR - 1, newest))} ({zone})
        </Text>
        <Button
          size="xs"
          variant="outline"
          disabled={first + YEAR > newest}
          onClick={() => setUntil(last + YEAR - 7 >= newest ? undefined : last + YEAR - 7)}
        >
          Year after →
        </Button>
      </HStack>
      <Weeks
        label={`Calendar of ${arrangement.asset}`}
        weeks={weeks}
        days={days}
        zone={zone}
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
    </Box>
  );
};

const Weeks = ({
  label,
  weeks,
  days,
  zone,
  states,
  region,
  partitionOf,
  onRegion,
  onOpen,
}: {
  readonly label: string;
  readonly weeks: readonly DayNumber[];
  readonly days: ReadonlyMap<DayNumber, Cell>;
  readonly zone: string;
  readonly states: ReadonlySet<Shown["states"][number]>;
  readonly region: Region;
  /** The one partition of a day, where it is one. */
  readonly partitionOf: (cell: Cell) => PartitionName | null;
  readonly onRegion: (region: Region) => void;
  readonly onOpen: (cell: Cell, day: DayNumber) => void;
}) => {
  const area = useRef<HTMLDivElement>(null);
  const [focus, setFocus] = useState<DayNumber>();
  const [noted, setNoted] = useState<{ readonly day: DayNumber; readonly x: number; readonly y: number }>();
  const anchor = useRef<DayNumber>(undefined);
  const dragged = useRef<DayNumber>(undefined);
  const newest = weeks.at(-1);
  useLayoutEffect(() => {
    area.current?.scrollTo({ left: area.current.scrollWidth }); // on a narrow screen the newest is seen first
  }, [newest]);
  const there = useMemo(() => [...days.keys()], [days]);
  const reached = focus !== undefined && days.has(focus) ? focus : there.at(-1);
  const toggle = (some: readonly DayNumber[]) => {
    const boxes = some.map((day) => ({ ...spanOf(day, zone), rows: null }));
    const all = boxes.every(({ start }) => holds(region, start, null));
    onRegion(boxes.reduce((next, box) => (all ? without(next, box, []) : withBox(next, box, [])), region));
  };
  const selectRange = (from: DayNumber, day: DayNumber) => {
    const [low, high] = [Math.min(from, day), Math.max(from, day)];
    onRegion([{ start: spanOf(low, zone).start, end: spanOf(high, zone).end, rows: null }]);
  };
  const press = (day: DayNumber, { shiftKey, ctrlKey, metaKey }: MouseEvent | KeyboardEvent) => {
    if (shiftKey) {
      selectRange(anchor.current ?? day, day);
      return;
    }
    anchor.current = day;
    const cell = days.get(day);
    if (ctrlKey || metaKey) toggle([day]);
    else if (cell !== undefined) onOpen(cell, day);
  };
  const note = (day: DayNumber, element: HTMLElement) => {
    const [around, box] = [area.current?.getBoundingClientRect(), element.getBoundingClientRect()];
    if (around) setNoted({ day, x: box.left + box.width / 2 - around.left, y: box.top - around.top });
  };
  const go = (event: KeyboardEvent<HTMLElement>, day: DayNumber) => {
    const step = STEPS[event.key];
    if (event.key === " ") {
      event.preventDefault();
      anchor.current = day;
      toggle([day]);
    } else if (step !== undefined) {
      event.preventDefault();
      const next = area.current?.querySelector<HTMLElement>(`[data-day="${String(day + step)}"]`);
      if (next) {
        if (event.shiftKey) {
          anchor.current ??= day;
          press(day + step, event);
        }
        next.focus();
      }
    }
  };
  const cell = noted && days.get(noted.day);
  return (
    <Box ref={area} position="relative" overflowX="auto" pb={1}>
      <Box role="grid" aria-label={label} width="max-content">
        <HStack role="row" gap={0} aria-hidden height={`${SIDE}px`}>
          <Box width={12} />
          {weeks.map((monday) => (
            <Text key={monday} width={`${SIDE}px`} fontSize="xs" color="fg.muted" whiteSpace="nowrap">
              {monthWord(monday)}
            </Text>
          ))}
        </HStack>
        {WEEKDAYS.map((weekday, row) => (
          <HStack key={weekday} role="row" gap={0} height={`${SIDE}px`}>
            <Box role="rowheader" width={12} position="sticky" insetStart={0} bg="bg" zIndex={1}>
              <Button
                size="2xs"
                variant="ghost"
                px={1}
                height={`${SIDE - 2}px`}
                aria-label={`${weekday}: select every ${NAMES[row] ?? weekday}`}
                title={`Select every ${NAMES[row] ?? weekday}`}
                onClick={() => toggle(there.filter((day) => weekdayOf(day) === row))}
              >
                {weekday}
              </Button>
            </Box>
            {weeks.map((monday) => {
              const day = monday + row;
              const here = days.get(day);
              if (here === undefined) return <Box key={day} role="gridcell" width={`${SIDE}px`} />;
              const selected = holds(region, spanOf(day, zone).start, null);
              return (
                <Box
                  key={day}
                  as="button"
                  role="gridcell"
                  data-day={day}
                  tabIndex={day === reached ? 0 : -1}
                  aria-selected={selected}
                  aria-label={wordsOf(here, day)}
                  width={`${SIDE - 2}px`}
                  height={`${SIDE - 2}px`}
                  m="1px"
                  borderRadius="2px"
                  cursor="pointer"
                  outline={selected ? "2px solid" : undefined}
                  outlineColor="brand.fg"
                  _focusVisible={{ outline: "2px solid", outlineColor: "brand.focusRing", outlineOffset: "1px" }}
                  onClick={(event: MouseEvent) => press(day, event)}
                  onKeyDown={(event: KeyboardEvent<HTMLElement>) => go(event, day)}
                  onFocus={(event) => {
                    setFocus(day);
                    if (event.currentTarget.matches(":focus-visible")) note(day, event.currentTarget);
                  }}
                  onBlur={() => setNoted(undefined)}
                  onPointerDown={(event) => {
                    dragged.current = event.pointerType === "touch" ? undefined : day;
                  }}
                  onPointerEnter={(event) => {
                    note(day, event.currentTarget);
                    if (event.buttons === 1 && dragged.current !== undefined && !event.shiftKey) {
                      anchor.current = dragged.current;
                      selectRange(dragged.current, day);
                    }
                  }}
                  onPointerLeave={() => setNoted(undefined)}
                >
                  <DayCell cell={here} states={states} />
                </Box>
              );
            })}
          </HStack>
        ))}
      </Box>
      {noted && cell ? (
        <CellNote
          cell={cell}
          partition={partitionOf(cell)}
          zone={zone}
          area={area}
          x={noted.x}
          y={noted.y}
          height={SIDE}
        />
      ) : null}
    </Box>
  );
};

/** A day in words: its date, and what of it is in which state. */
const wordsOf = (cell: Cell, day: DayNumber): string => {
  const words = cellText(cell, null);
  return cell.column.first === dayText(day) ? words : `${dayText(day)}: ${words}`;
};

/** The month above a week in which one begins; the first week of a year says that, too. */
const monthWord = (monday: DayNumber): string => {
  const sunday = dayText(monday + 6);
  if (Number(sunday.slice(8)) > 7) return "";
  const month = Number(sunday.slice(5, 7));
  return month === 1 ? sunday.slice(0, 4) : (MONTHS[month - 1] ?? "");
};
