import { Box, VisuallyHidden } from "@chakra-ui/react";
import { useEffect, useId, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";

import { withBox, without, type Box as Cut, type Region } from "../selection/region";
import { usePalette } from "../states/palette";
import type { State } from "../states/state";
import { Canvas } from "./Canvas";
import { CellNote } from "./CellNote";
import { cellText } from "./cellText";
import { drawGrid, isSelected, placeX } from "./drawGrid";
import { cellAt, columnAt, type Cell, type Picture, type Place } from "./picture";
import { lengthOf, moved, newest, within, zoomed, type Bounds, type Span } from "./view";

/** A cell by its place on the axis, which stays what it is when columns change. */
type Spot = { readonly at: number; readonly row: number };

type Drag = {
  readonly from: Spot;
  readonly x: number;
  readonly y: number;
  readonly view: Span;
  readonly moves: boolean;
};

/** The cells of a picture on a canvas: what is under the pointer, what is selected, and ways to both by keys. */
export const Cells = ({
  picture,
  view,
  bounds,
  width,
  height,
  rowHeight,
  top,
  zone,
  states,
  region,
  label,
  rowsInAll,
  onView,
  onOpen,
  onRegion,
  onReveal,
}: {
  readonly picture: Picture;
  readonly view: Span;
  readonly bounds: Bounds;
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly top: number;
  readonly zone: string | null;
  readonly states: ReadonlySet<State>;
  readonly region: Region;
  readonly label: string;
  /** Number of all rows; infinite where none but those that are shown are meant. */
  readonly rowsInAll: number;
  readonly onView: (view: Span) => void;
  /** What to do with a cell that is clicked. */
  readonly onOpen: (cell: Cell) => void;
  readonly onRegion: (region: Region) => void;
  /** Scroll to where a row is seen. */
  readonly onReveal: (row: number) => void;
}) => {
  const palette = usePalette();
  const help = useId();
  const element = useRef<HTMLDivElement>(null);
  const [focus, setFocus] = useState<Spot | null>(null);
  const [hover, setHover] = useState<Spot | null>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const anchor = useRef<Spot | null>(null);
  const touches = useRef(new Map<number, number>());

  const placeOf = (spot: Spot | null): Place | null => {
    const column = spot === null ? -1 : columnAt(picture.columns, spot.at);
    return spot === null || column < 0 || spot.row >= picture.rows.length ? null : { column, row: spot.row };
  };
  const cellOf = (spot: Spot | null): Cell | null => {
    const place = placeOf(spot);
    return place && cellAt(picture, place);
  };
  const names = picture.rows.flatMap(({ value }) => (value === null ? [] : [value]));
  const boxOf = (one: Spot, other: Spot): Cut | null => {
    const [from, until] = one.at < other.at ? [one, other] : [other, one];
    const first = picture.columns[columnAt(picture.columns, from.at)];
    const last = picture.columns[columnAt(picture.columns, until.at)];
    if (first === undefined || last === undefined) return null;
    const [low, high] = [Math.min(one.row, other.row), Math.max(one.row, other.row)];
    const all = high - low + 1 >= rowsInAll;
    return {
      ...(picture.across === null ? { start: -Infinity, end: Infinity } : { start: first.start, end: last.end }),
      rows: picture.down === null || all ? null : new Set(names.slice(low, high + 1)),
    };
  };
  const spotOf = (event: { clientX: number; clientY: number }): Spot => {
    const area = element.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
    return {
      at: view.start + ((event.clientX - area.left) / width) * lengthOf(view),
      row: Math.floor((event.clientY - area.top + top) / rowHeight),
    };
  };
  const add = (box: Cut | null, toggles: boolean, from: Spot) => {
    if (box === null) return;
    const cell = cellOf(from);
    if (!toggles) onRegion([box]);
    else if (cell && isSelected(region, cell.column, cell.row.value)) onRegion(without(region, box, names));
    else onRegion(withBox(region, box, names));
  };

  // React listens to the wheel without the right to keep the page from scrolling.
  useEffect(() => {
    const area = element.current;
    const turn = (event: WheelEvent) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const x = event.clientX - (area?.getBoundingClientRect().left ?? 0);
        onView(zoomed(view, Math.exp(event.deltaY / 300), view.start + (x / width) * lengthOf(view), bounds));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        onView(moved(view, ((event.deltaX || event.deltaY) / width) * lengthOf(view), bounds));
      }
    };
    area?.addEventListener("wheel", turn, { passive: false });
    return () => area?.removeEventListener("wheel", turn);
  });

  const press = (event: PointerEvent) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    if (event.pointerType === "touch") touches.current.set(event.pointerId, event.clientX);
    setDrag({ from: spotOf(event), x: event.clientX, y: event.clientY, view, moves: false });
  };
  const pinch = (event: PointerEvent): boolean => {
    const before = [...touches.current.values()];
    if (before.length !== 2) return false;
    touches.current.set(event.pointerId, event.clientX);
    const after = [...touches.current.values()];
    const [a = 0, b = 0, c = 0, d = 0] = [...before, ...after];
    const factor = Math.max(Math.abs(a - b), 10) / Math.max(Math.abs(c - d), 10);
    const left = element.current?.getBoundingClientRect().left ?? 0;
    onView(zoomed(view, factor, view.start + (((c + d) / 2 - left) / width) * lengthOf(view), bounds));
    setDrag(null);
    return true;
  };
  const move = (event: PointerEvent) => {
    if (pinch(event)) return;
    setHover(event.pointerType === "touch" ? null : spotOf(event));
    if (drag === null) return;
    const moves = drag.moves || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 4;
    if (!moves) return;
    if (event.pointerType === "touch")
      onView(moved(drag.view, ((drag.x - event.clientX) / width) * lengthOf(view), bounds));
    setDrag({ ...drag, moves });
  };
  const release = (event: PointerEvent) => {
    touches.current.delete(event.pointerId);
    if (drag === null) return;
    setDrag(null);
    const until = spotOf(event);
    const toggles = event.ctrlKey || event.metaKey;
    if (drag.moves) {
      if (event.pointerType === "touch") return;
      anchor.current = drag.from;
      add(boxOf(drag.from, until), toggles, drag.from);
    } else if (event.shiftKey) add(boxOf(anchor.current ?? focus ?? until, until), false, until);
    else if (toggles) {
      anchor.current = until;
      add(boxOf(until, until), true, until);
    } else {
      const cell = cellOf(until);
      if (cell) onOpen(cell);
    }
    setFocus(until);
  };

  const go = (spot: Spot) => {
    setFocus(spot);
    onReveal(spot.row);
    const [start, end] = [spot.at, picture.columns[columnAt(picture.columns, spot.at)]?.end ?? spot.at];
    if (start < view.start) onView(within({ start, end: start + lengthOf(view) }, bounds));
    else if (end > view.end) onView(within({ start: end - lengthOf(view), end }, bounds));
  };
  const newestSpot = (): Spot => {
    const seen = picture.columns.filter(({ start, end }) => start < view.end && end > view.start);
    return { at: seen[seen.length - 1]?.start ?? view.start, row: Math.floor(top / rowHeight) };
  };
  const step = (from: Spot, columns: number, rows: number): Spot => {
    const i = columnAt(picture.columns, from.at);
    const column = picture.columns[Math.max(0, Math.min(i + columns, picture.columns.length - 1))];
    return {
      at: columns === 0 || i < 0 ? from.at : (column?.start ?? from.at),
      row: Math.max(0, Math.min(from.row + rows, picture.rows.length - 1)),
    };
  };
  const type = (event: KeyboardEvent) => {
    const here = placeOf(focus) === null ? newestSpot() : (focus ?? newestSpot());
    const arrows: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    };
    const arrow = arrows[event.key];
    const command = event.ctrlKey || event.metaKey;
    if (arrow) {
      const next = step(here, ...arrow);
      go(next);
      if (event.shiftKey) {
        anchor.current ??= here;
        add(boxOf(anchor.current, next), false, next);
      } else anchor.current = null;
    } else if (event.key === " ") {
      anchor.current = here;
      add(boxOf(here, here), true, here);
    } else if (event.key === "Enter") {
      const cell = cellOf(here);
      if (cell) onOpen(cell);
    } else if (event.key === "a" && command) {
      const columns = picture.across === null ? { start: -Infinity, end: Infinity } : seen(picture, view);
      onRegion([{ ...columns, rows: picture.down !== null && rowsInAll > names.length ? new Set(names) : null }]);
    } else if (event.key === "Escape") {
      if (region.length === 0) return;
      onRegion([]);
    } else if (event.key === "+" || event.key === "=") onView(zoomed(view, 0.5, here.at, bounds));
    else if (event.key === "-") onView(zoomed(view, 2, here.at, bounds));
    else if (event.key === "Home") onView(within({ start: bounds.start, end: bounds.start + lengthOf(view) }, bounds));
    else if (event.key === "End") onView(newest(bounds, lengthOf(view)));
    else if (event.key === "PageUp") onView(moved(view, -lengthOf(view), bounds));
    else if (event.key === "PageDown") onView(moved(view, lengthOf(view), bounds));
    else return;
    event.preventDefault();
  };

  const dragged = drag?.moves && hover ? boxOf(drag.from, hover) : null;
  const scene = {
    picture,
    view,
    width,
    height,
    rowHeight,
    top,
    region,
    states,
    focus: placeOf(focus),
    hover: placeOf(hover),
    drag: dragged ? [dragged] : [],
    marks: true,
  };
  const noted = hover ?? focus;
  const cell = cellOf(noted);
  const place = placeOf(noted);
  const column = cell?.column;
  return (
    <Box
      ref={element}
      position="relative"
      role="application"
      aria-roledescription="picture of partitions"
      aria-label={label}
      aria-describedby={help}
      tabIndex={0}
      width={`${width}px`}
      height={`${height}px`}
      cursor={cell && cell.total > 0 ? "pointer" : "default"}
      userSelect="none"
      touchAction="pan-y"
      borderRadius="sm"
      _focusVisible={{ outline: "2px solid", outlineColor: "brand.focusRing", outlineOffset: "2px" }}
      onPointerDown={press}
      onPointerMove={move}
      onPointerUp={release}
      onPointerCancel={() => {
        touches.current.clear();
        setDrag(null);
      }}
      onPointerLeave={() => setHover(null)}
      onKeyDown={type}
      onFocus={(event) => {
        if (focus === null && event.currentTarget.matches(":focus-visible")) setFocus(newestSpot());
      }}
      onBlur={() => setFocus(null)}
    >
      <Canvas width={width} height={height} draw={(canvas) => drawGrid(canvas, palette, scene)} />
      <VisuallyHidden id={help}>
        Arrows go from cell to cell, with Shift they select; Space adds or removes a cell, Enter opens it, Control and A
        selects all in view, Escape none; plus and minus zoom, Page Up and Page Down move, Home and End go to the oldest
        and newest.
      </VisuallyHidden>
      <VisuallyHidden aria-live="polite">
        {focus && cell
          ? `${cellText(cell, zone)}${isSelected(region, cell.column, cell.row.value) ? ", selected" : ""}`
          : ""}
      </VisuallyHidden>
      {cell && column && place && cell.total > 0 && !drag?.moves ? (
        <CellNote
          cell={cell}
          zone={zone}
          x={placeX((Math.max(column.start, view.start) + Math.min(column.end, view.end)) / 2, view, width)}
          y={place.row * rowHeight - top}
          height={rowHeight}
          area={element}
        />
      ) : null}
    </Box>
  );
};

/** The columns that are seen at least in part, as a span. */
export const seen = (picture: Picture, view: Span): Span => {
  const columns = picture.columns.filter(({ start, end }) => start < view.end && end > view.start);
  return { start: columns[0]?.start ?? view.start, end: columns[columns.length - 1]?.end ?? view.end };
};
