import { Box, VisuallyHidden } from "@chakra-ui/react";
import { useQueries } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useId, useLayoutEffect, useMemo, useRef, useState } from "react";

import { timeTicks } from "../grid/axis";
import { useWidth } from "../grid/useWidth";
import { countsText, type State } from "../states/state";
import { openedLines, openedQuery, pickTitle, type Board, type Line, type Period } from "./board";
import { BoardRow } from "./BoardRow";
import { press, slotNear } from "./keys";
import { between, markText, partOf, type Picked } from "./rectangle";
import { useCursor } from "./useCursor";
import { usePointer } from "./usePointer";

const NARROW = 640;

/** The dates above the columns. */
const Dates = ({
  board,
  labels,
  width,
}: {
  readonly board: Board;
  readonly labels: number;
  readonly width: number;
}) => {
  const [start, end] = [Date.parse(board.columns[0]?.start ?? ""), Date.parse(board.columns.at(-1)?.end ?? "")];
  if (!(width > 0 && start < end)) return <Box height={6} />;
  const ticks = timeTicks(start, end, ((end - start) / width) * 64, board.timezone);
  return (
    <Box position="relative" height={6} ms={`${String(labels)}px`} overflow="hidden" aria-hidden fontSize="xs">
      {ticks.map(({ at, text, strong }) => (
        <Box
          key={at}
          position="absolute"
          left={`${String(((at - start) / (end - start)) * width)}px`}
          bottom={0}
          ps={1}
          height="100%"
          borderStartWidth={1}
          whiteSpace="nowrap"
          color={strong ? "fg" : "fg.muted"}
          fontWeight={strong ? "semibold" : "normal"}
        >
          {text}
        </Box>
      ))}
    </Box>
  );
};

/** The rows with those that are folded in the assets that were opened. */
const useOpened = (lines: readonly Line[], period: Period, opened: ReadonlySet<string>): readonly Line[] => {
  const assets = lines.filter(({ strip }) => opened.has(strip.asset));
  const answers = useQueries({ queries: assets.map(({ strip }) => openedQuery(period, strip.asset)) });
  const pages = new Map(assets.map(({ key }, place) => [key, answers[place]?.data]));
  return lines.flatMap((line) => {
    const page = pages.get(line.key);
    return page === undefined ? [line] : [line, ...openedLines(page, line.level)];
  });
};

/** All assets down, time across; only the rows in view are drawn. */
export const BoardRows = ({
  board,
  lines: assets,
  period,
  states,
  pick,
  onPick,
}: {
  readonly board: Board;
  readonly lines: readonly Line[];
  readonly period: Period;
  readonly states: ReadonlySet<State>;
  readonly pick: Picked | null;
  readonly onPick: (pick: Picked | null) => void;
}) => {
  const [area, full] = useWidth();
  const list = useRef<HTMLDivElement>(null);
  const help = useId();
  const [above, setAbove] = useState(0);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const lines = useOpened(assets, period, opened);
  const labels = full < NARROW ? 0 : Math.min(320, Math.round(full * 0.25));
  const width = Math.max(0, full - labels);
  const height = labels === 0 ? 50 : 28;
  const zones = useMemo(() => new Map(board.scales.map(({ timezone }, place) => [place, timezone])), [board]);
  const scroll = () => list.current?.closest<HTMLElement>("[data-scroll]") ?? null;
  // eslint-disable-next-line react-hooks/incompatible-library -- the list of rows is drawn by nothing that is memoised
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: scroll,
    estimateSize: () => height,
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: 12,
    useFlushSync: false, // React draws when it can, and the scroll goes on
    scrollMargin: above,
    initialRect: { width: 1280, height: 800 },
  });
  useLayoutEffect(() => {
    const top = scroll();
    if (list.current === null || top === null) return;
    setAbove(Math.round(list.current.getBoundingClientRect().top - top.getBoundingClientRect().top + top.scrollTop));
    rows.measure();
  }, [rows, lines.length, height]);
  const onOpened = useCallback(
    (asset: string) =>
      setOpened(
        (before) => new Set(before.has(asset) ? [...before].filter((one) => one !== asset) : [...before, asset]),
      ),
    [],
  );
  const cursor = useCursor(board, lines, onPick);
  const { focus } = cursor;
  const columns = board.columns.length;
  const { dragged, drop, handlers } = usePointer(list, { height, width, labels, columns, lines }, cursor);
  const marked = dragged ? between(board, lines, dragged.from, dragged.until) : cursor.marked;
  const chosen = marked ?? pick;
  const slotOf = (line: Line) => (focus?.row === line.key ? slotNear(line, focus.column) : null);
  const here = lines.find(({ key }) => key === focus?.row);
  const slot = here && slotOf(here);
  const said = marked ? markText(marked, board) : here && typeof slot === "number" ? cellWords(here, slot) : "";
  return (
    <Box
      ref={area}
      role="application"
      aria-roledescription="picture of partitions"
      aria-label="Partitions of all assets over time"
      aria-describedby={help}
      tabIndex={0}
      borderRadius="sm"
      _focusVisible={{ outline: "2px solid", outlineColor: "brand.focusRing", outlineOffset: "2px" }}
      onKeyDown={(event) => {
        if (event.key === "Escape") drop();
        press(event, board, lines, cursor, (row) => rows.scrollToIndex(lines.findIndex(({ key }) => key === row)));
      }}
      onBlur={(event) => {
        if (event.currentTarget.contains(event.relatedTarget)) return;
        cursor.setFocus(null);
        cursor.setAnchor(null);
      }}
    >
      <VisuallyHidden id={help}>
        Arrows go from cell to cell, with Shift they mark a rectangle of assets and time; Enter tells what is there and
        what can be done with it, Escape drops it; Home and End go to the oldest and newest.
      </VisuallyHidden>
      <VisuallyHidden aria-live="polite">{said}</VisuallyHidden>
      <Box position="sticky" top={0} bg="bg" zIndex={1}>
        <Dates board={board} labels={labels} width={width} />
      </Box>
      <Box ref={list} position="relative" height={`${String(rows.getTotalSize())}px`} {...handlers}>
        {rows.getVirtualItems().map(({ index, key, start, size }) => {
          const one = lines[index];
          if (one === undefined || width === 0) return null;
          const part = chosen && partOf(chosen, one);
          return (
            <Box
              key={key}
              position="absolute"
              top={0}
              insetX={0}
              height={`${String(size)}px`}
              style={{ transform: `translateY(${String(start - above)}px)` }}
            >
              <BoardRow
                line={one}
                columns={columns}
                width={width}
                labels={labels}
                states={states}
                from={part?.from ?? null}
                until={part?.until ?? null}
                drags={dragged !== null}
                focus={slotOf(one)}
                zone={one.strip.scale === null ? null : (zones.get(one.strip.scale) ?? board.timezone)}
                opened={opened.has(one.strip.asset)}
                onOpened={onOpened}
              />
            </Box>
          );
        })}
      </Box>
    </Box>
  );
};

/** A cell in one line. */
const cellWords = (line: Line, slot: number): string => {
  if (line.slots?.length === 0) return `${line.strip.asset}, no partitions here`;
  const { states } = line.cells[slot] ?? { states: {} };
  const name = pickTitle({ line, from: slot, until: slot });
  return [line.strip.asset, name, countsText(states) || "no partition yet"].join(", ");
};
