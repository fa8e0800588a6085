import { Box, VisuallyHidden } from "@chakra-ui/react";
import { useQueries } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useId, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";

import { timeTicks } from "../grid/axis";
import { cellName } from "../grid/cellText";
import { useWidth } from "../grid/useWidth";
import { countsText, type State } from "../states/state";
import { openedLines, openedQuery, type Board, type Line, type Period, type Pick } from "./board";
import { BoardRow } from "./BoardRow";

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

/** Where the cursor of keys is: the key of a row, and the number of a slot. */
type Cursor = { readonly row: string; readonly slot: number };

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  PageUp: [0, -10],
  PageDown: [0, 10],
  Home: [-Infinity, 0],
  End: [Infinity, 0],
};

/** The slot of a row that is below, or above, that of another row. */
const slotBelow = (line: Line, other: Line, slot: number): number => {
  const column = other.slots?.[slot]?.column ?? 0;
  const last = (line.slots ?? []).findLastIndex((one) => one.column <= column);
  return Math.max(0, last);
};

const lastSlot = ({ slots }: Line): number => Math.max(0, (slots?.length ?? 1) - 1);

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
  readonly pick: Pick | null;
  readonly onPick: (pick: Pick | null) => void;
}) => {
  const [area, full] = useWidth();
  const list = useRef<HTMLDivElement>(null);
  const help = useId();
  const [above, setAbove] = useState(0);
  const [cursor, setCursor] = useState<Cursor | null>(null);
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
  const onPicked = useCallback(
    (line: Line, from: number, until: number) => {
      setCursor({ row: line.key, slot: until });
      onPick({ line, from, until });
    },
    [onPick],
  );
  const here = cursor === null ? -1 : lines.findIndex(({ key }) => key === cursor.row);
  const line = lines[here];
  const press = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return; // of a link or a button in it
    const step = ARROWS[event.key];
    const [first] = lines;
    if (first === undefined) return;
    if (event.key === "Escape") onPick(null);
    else if (line === undefined || cursor === null) {
      if (!step && event.key !== "Enter") return;
      setCursor({ row: first.key, slot: lastSlot(first) });
      rows.scrollToIndex(0);
    } else if (event.key === "Enter" || event.key === " ") onPick({ line, from: cursor.slot, until: cursor.slot });
    else if (step) {
      const row = Math.min(Math.max(here + step[1], 0), lines.length - 1);
      const next = lines[row] ?? line;
      const slot = next === line ? cursor.slot : slotBelow(next, line, cursor.slot);
      setCursor({ row: next.key, slot: Math.min(Math.max(slot + step[0], 0), lastSlot(next)) });
      rows.scrollToIndex(row);
      if (event.shiftKey && step[0] !== 0 && next === line) {
        const from = pick?.line.key === line.key ? pick : { from: cursor.slot, until: cursor.slot };
        const until = Math.min(Math.max(slot + step[0], 0), lastSlot(next));
        onPick({ line, from: Math.min(from.from, until), until: Math.max(from.until, until) });
      }
    } else return;
    event.preventDefault();
  };
  const slot = cursor === null ? undefined : line?.slots?.[cursor.slot];
  const cell = cursor === null ? undefined : line?.cells[cursor.slot];
  const said =
    line === undefined || cell === undefined
      ? ""
      : [
          line.strip.asset,
          slot === undefined
            ? (line.value ?? "")
            : cellName({ ...cell, column: slot, row: { value: line.value, cells: new Uint32Array() }, total: 0 }),
          countsText(cell.states) || "no partition yet",
        ].join(", ");
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
      onKeyDown={press}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setCursor(null);
      }}
    >
      <VisuallyHidden id={help}>
        Arrows go from cell to cell, with Shift they select along a row; Enter tells what is in a cell, Escape closes
        that; Home and End go to the oldest and newest.
      </VisuallyHidden>
      <VisuallyHidden aria-live="polite">{said}</VisuallyHidden>
      <Box position="sticky" top={0} bg="bg" zIndex={1}>
        <Dates board={board} labels={labels} width={width} />
      </Box>
      <Box ref={list} position="relative" height={`${String(rows.getTotalSize())}px`}>
        {rows.getVirtualItems().map(({ index, key, start, size }) => {
          const one = lines[index];
          if (one === undefined || width === 0) return null;
          const chosen = pick?.line.key === one.key ? pick : null;
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
                columns={board.columns.length}
                width={width}
                labels={labels}
                states={states}
                from={chosen?.from ?? null}
                until={chosen?.until ?? null}
                focus={cursor?.row === one.key ? cursor.slot : null}
                zone={one.strip.scale === null ? null : (zones.get(one.strip.scale) ?? board.timezone)}
                opened={opened.has(one.strip.asset)}
                onOpened={onOpened}
                onPicked={onPicked}
              />
            </Box>
          );
        })}
      </Box>
    </Box>
  );
};
