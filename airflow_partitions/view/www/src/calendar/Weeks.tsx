import { Box, Button, HStack, Text } from "@chakra-ui/react";
import { useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent } from "react";

import { CellNote } from "../grid/CellNote";
import { cellText } from "../grid/cellText";
import type { Cell } from "../grid/picture";
import { holds, withBox, without, type Region } from "../selection/region";
import type { State } from "../states/state";
import type { PartitionName } from "../states/useReasons";
import { layerText, type Layer } from "../values/layer";
import { dayText, spanOf, weekdayOf, type DayNumber } from "./days";
import { DayCell } from "./DayCell";
import { DayValues } from "./DayValues";

const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;
const NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] as const;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
/** Side of a day in pixels, with the gap to the next. */
export const SIDE = 18;
/** Width of the names of the weekdays, in pixels. */
const NAMES_WIDTH = 48;
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -7, ArrowRight: 7, ArrowUp: -1, ArrowDown: 1 };

/** A value of each day. */
export type DayLayer = { readonly layer: Layer; readonly amounts: ReadonlyMap<DayNumber, number> };

/** Days by weeks and weekdays: what is under the pointer, what is selected, and ways to both by keys. */
export const Weeks = ({
  label,
  weeks,
  days,
  zone,
  values,
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
  /** By what the days are coloured; `null` for their states. */
  readonly values: DayLayer | null;
  readonly states: ReadonlySet<State>;
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
  const valueOf = (day: DayNumber, { total }: Cell): string | null =>
    values && layerText(values.layer, values.amounts.get(day) ?? null, total > 1);
  return (
    <Box ref={area} position="relative" overflowX="auto" pb={1}>
      <Box role="grid" aria-label={label} width="max-content" position="relative" isolation="isolate">
        <HStack role="row" gap={0} aria-hidden height={`${SIDE}px`}>
          <Box width={`${NAMES_WIDTH}px`} />
          {weeks.map((monday) => (
            <Text key={monday} width={`${SIDE}px`} fontSize="xs" color="fg.muted" whiteSpace="nowrap">
              {monthWord(monday)}
            </Text>
          ))}
        </HStack>
        {WEEKDAYS.map((weekday, row) => (
          <HStack key={weekday} role="row" gap={0} height={`${SIDE}px`}>
            <Box role="rowheader" width={`${NAMES_WIDTH}px`} position="sticky" insetStart={0} bg="bg" zIndex={1}>
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
                  aria-label={[wordsOf(here, day), valueOf(day, here)].filter((text) => text !== null).join(", ")}
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
                  {values ? null : <DayCell cell={here} states={states} />}
                </Box>
              );
            })}
          </HStack>
        ))}
        {values ? (
          <Box position="absolute" top={`${SIDE}px`} insetStart={`${NAMES_WIDTH}px`} zIndex={-1}>
            <DayValues {...values} weeks={weeks} days={days} side={SIDE} states={states} />
          </Box>
        ) : null}
      </Box>
      {noted && cell ? (
        <CellNote
          cell={cell}
          value={valueOf(noted.day, cell)}
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
