import { Box, Button, Skeleton, Text, Wrap } from "@chakra-ui/react";
import { useEffect, useMemo, useRef, useState } from "react";

import { Trouble } from "../page/Trouble";
import { regionText, type Frame } from "../selection/text";
import { useRegion } from "../selection/useRegion";
import { statesOf, type State } from "../states/state";
import { Axis } from "./Axis";
import { Cells, seen } from "./Cells";
import { extentOf, type Extent } from "./extent";
import { Jumps } from "./Jumps";
import { Minimap } from "./Minimap";
import { pictureOf, type Cell, type Picture, type Row } from "./picture";
import { RowLabels } from "./RowLabels";
import { RowMetadata } from "./RowMetadata";
import { useGrid, useWhole, type Arrangement } from "./useGrid";
import { useSettled } from "../page/useSettled";
import { useWidth } from "./useWidth";
import { lengthOf, newest, within, type Bounds, type Span } from "./view";
import { Zoom } from "./Zoom";

/** Width of an interval in pixels: when the page opens, and at most. */
const INITIAL = 16;
const LARGEST = 48;
/** How long a view stands still before it is asked for, in milliseconds. */
const PAUSE = 120;
/** Of the only cell of a row and the name of its state. */
const CELL_AND_STATE = 172;
/** What was kept with a key has room for some letters, or is not shown. */
const LEAST_METADATA = 60;

/** What of an asset's partitions is dimension of what. */
export type Dimensions = {
  readonly names: readonly string[];
  readonly time: string | null;
  readonly zone: string | null;
  /** Whether only runs know the keys. */
  readonly open: boolean;
};

/** Whether any partition of a row is in one of the states; true if none is named. */
const isAmong = (picture: Picture, { cells }: Row, states: ReadonlySet<State>): boolean =>
  states.size === 0 ||
  cells.some((cell) => statesOf(picture.cells[cell]?.states ?? {}).some((state) => states.has(state)));

/** All partitions of an asset in one picture, at any zoom. */
export const Grid = ({
  arrangement,
  dimensions,
  expected,
  states,
  select,
  canonical,
  view: shown,
  onView,
  onSelect,
  onSeen,
  onOpen,
}: {
  readonly arrangement: Arrangement;
  readonly dimensions: Dimensions;
  /** All intervals, as far as it is known before the server has counted. */
  readonly expected: Extent | null;
  readonly states: ReadonlySet<State>;
  readonly select: string;
  /** What the server takes the selection for, as long as it has said so. */
  readonly canonical: string | undefined;
  /** `null` for the newest. */
  readonly view: Span | null;
  readonly onView: (view: Span | null) => void;
  readonly onSelect: (text: string) => void;
  /** The text that selects what is in view. */
  readonly onSeen: (text: string) => void;
  /** Also with the text that selects the cell. */
  readonly onOpen: (picture: Picture, cell: Cell, text: string) => void;
}) => {
  const [area, fullWidth] = useWidth();
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const timed = dimensions.time !== null && (arrangement.across ?? dimensions.time) === dimensions.time;
  const zone = dimensions.zone ?? "UTC";
  const labels = arrangement.down === "" || dimensions.names.length < (timed ? 2 : 1) ? 0 : fullWidth < 600 ? 96 : 168;
  const width = Math.max(0, fullWidth - labels);

  const whole = useWhole(arrangement);
  const answer = whole.data?.pages[0];
  const extent = useMemo(
    () => (timed ? (answer === undefined ? expected : extentOf(answer)) : null),
    [timed, answer, expected],
  );
  const interval = extent ? lengthOf(extent) / Math.max(1, extent.count) : 1;
  const bounds = useMemo<Bounds | null>(
    () => (extent && width > 0 ? { ...extent, least: (interval * width) / LARGEST } : null),
    [extent, interval, width],
  );
  const timeView = useMemo(
    () =>
      bounds && (shown ? within(shown, bounds) : newest(bounds, interval * Math.max(1, Math.floor(width / INITIAL)))),
    [bounds, shown, interval, width],
  );

  const settled = useSettled(timeView, PAUSE) ?? timeView;
  const grid = useGrid(arrangement, settled, extent, width, width > 0 && (!timed || settled !== null));
  const picture = useMemo(() => pictureOf(grid.data?.pages ?? []), [grid.data]);
  const overview = useMemo(() => pictureOf(whole.data?.pages ?? []), [whole.data]);

  // Columns that are no time have places by their number; all are there at once.
  const [placed, setPlaced] = useState<Span | null>(null);
  const valueBounds = useMemo<Bounds>(() => {
    const least = width / LARGEST;
    return { start: 0, end: Math.max(picture?.columns.length ?? 1, least), least };
  }, [picture?.columns.length, width]);
  const limits = timed ? bounds : valueBounds;
  const view = timed
    ? timeView
    : within(placed ?? { start: 0, end: Math.min(valueBounds.end, width / 12) }, valueBounds);
  const setView = timed
    ? (next: Span) =>
        onView(bounds && next.end >= bounds.end && !shown && lengthOf(next) === lengthOf(view ?? next) ? null : next)
    : setPlaced;

  const frame = useMemo<Frame>(
    () => ({
      dimensions: dimensions.names,
      time: dimensions.time,
      zone,
      across: picture?.across ?? null,
      down: picture?.down ?? null,
      only: arrangement.only ?? {},
      values: timed ? [] : (picture?.columns.map(({ first }) => first ?? "") ?? []),
    }),
    [dimensions, zone, picture, timed, arrangement.only],
  );
  const [region, setRegion] = useRegion(select, canonical, frame, onSelect);
  // Of what one searches, and of keys that only runs know, those are meant that are shown.
  const named = Boolean(arrangement.search) || dimensions.open;
  const inView = useMemo(() => {
    if (!picture || !view) return "";
    const rows = named
      ? new Set(picture.rows.filter((row) => isAmong(picture, row, states)).map(({ value }) => value ?? ""))
      : null;
    const box = picture.across === null ? { start: -Infinity, end: Infinity } : seen(picture, view);
    return regionText([{ ...box, rows }], frame);
  }, [picture, view, frame, named, states]);
  useEffect(() => onSeen(inView), [inView, onSeen]);

  const error = grid.error ?? whole.error;
  const none = timed ? answer !== undefined && extent === null : picture?.rows.length === 0 && !arrangement.search;
  const rowHeight = picture?.across === null ? 28 : labels === 0 ? 48 : 22;
  const total = (picture?.rows.length ?? 0) * rowHeight;
  const height = Math.min(Math.max(total, rowHeight), Math.max(264, window.innerHeight - 440));
  const { fetchNextPage, hasNextPage, isFetchingNextPage } = grid;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && top + height * 2 > total && total < 2000 * rowHeight)
      void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, top, height, total, rowHeight, fetchNextPage]);

  return (
    <Box ref={area} minHeight="120px">
      {error ? <Trouble error={error} /> : null}
      {picture === null || view === null || limits === null || none ? (
        error ? null : none ? (
          <Text color="fg.muted">There is no partition yet.</Text>
        ) : (
          <Skeleton height="120px" />
        )
      ) : (
        <>
          {timed ? (
            <Wrap mb={3} gap={3} align="center">
              <Zoom
                view={view}
                shown={seen(picture, view)}
                bounds={limits}
                zone={zone}
                unit={picture.unit}
                onView={setView}
              />
              {overview && states.size > 0 ? (
                <Jumps picture={overview} states={states} view={view} bounds={limits} onView={setView} />
              ) : null}
            </Wrap>
          ) : null}
          <Box ml={`${labels}px`}>
            {timed && overview && lengthOf(view) < lengthOf(limits) ? (
              <Minimap picture={overview} bounds={limits} view={view} width={width} states={states} onView={setView} />
            ) : null}
            {picture.across === null ? null : (
              <Axis picture={picture} view={view} width={width} zone={timed ? zone : null} />
            )}
          </Box>
          <Box
            ref={scroller}
            maxHeight={`${height}px`}
            overflowY={total > height ? "auto" : "visible"}
            overflowX="clip"
            style={{ scrollbarWidth: "thin" }}
            onScroll={(event) => setTop(event.currentTarget.scrollTop)}
          >
            <Box position="relative" height={`${Math.max(total, rowHeight)}px`}>
              {labels > 0 ? (
                <RowLabels picture={picture} width={labels} height={height} rowHeight={rowHeight} top={top} />
              ) : null}
              <Box position="sticky" top={0} ml={`${labels}px`} height={`${height}px`}>
                <Cells
                  picture={picture}
                  view={view}
                  bounds={limits}
                  width={width}
                  height={height}
                  rowHeight={rowHeight}
                  top={top}
                  zone={timed ? zone : null}
                  states={states}
                  region={region}
                  label={`Partitions of ${arrangement.asset}`}
                  rowsInAll={named ? Infinity : picture.rowCount}
                  onView={setView}
                  onOpen={(cell) => {
                    if (cell.column.count > 1 && timed) setView(within(cell.column, limits));
                    else {
                      const rows = cell.row.value === null ? null : new Set([cell.row.value]);
                      const { start, end } =
                        picture.across === null ? { start: -Infinity, end: Infinity } : cell.column;
                      onOpen(picture, cell, regionText([{ start, end, rows }], frame));
                    }
                  }}
                  onRegion={setRegion}
                  onReveal={(row) => {
                    const box = scroller.current;
                    if (box === null) return;
                    if (row * rowHeight < box.scrollTop) box.scrollTop = row * rowHeight;
                    else if ((row + 1) * rowHeight > box.scrollTop + height)
                      box.scrollTop = (row + 1) * rowHeight - height;
                  }}
                />
              </Box>
              {dimensions.open && picture.across === null && width > CELL_AND_STATE + LEAST_METADATA ? (
                <RowMetadata
                  asset={arrangement.asset}
                  rows={picture.rows}
                  left={labels + CELL_AND_STATE}
                  height={height}
                  rowHeight={rowHeight}
                  top={top}
                />
              ) : null}
            </Box>
          </Box>
          {picture.rows.length < picture.rowCount ? (
            <Text fontSize="sm" color="fg.muted" mt={1}>
              {picture.rows.length} of {picture.rowCount} rows{" "}
              {hasNextPage ? (
                <Button size="xs" variant="ghost" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                  More
                </Button>
              ) : null}
            </Text>
          ) : null}
        </>
      )}
    </Box>
  );
};
