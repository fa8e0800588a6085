import { Box, Skeleton, Text } from "@chakra-ui/react";
import { useEffect, useMemo, useState } from "react";

import { Trouble } from "../page/Trouble";
import { Problem } from "../rest/problem";
import type { components } from "../rest/schema";
import { regionText, type Frame } from "../selection/text";
import type { Shown } from "../selection/usePicture";
import { useRegion } from "../selection/useRegion";
import { totalOf } from "../states/state";
import { ValueLegend } from "../values/ValueLegend";
import { ValueLine } from "../values/ValueLine";
import { Arrange } from "./Arrange";
import { dimensionsOf } from "./dimensions";
import { HEIGHT as MINIMAP } from "./Minimap";
import { MoreRows } from "./MoreRows";
import { keyOf, type Cell, type Picture } from "./picture";
import { Rows } from "./Rows";
import { Scale } from "./Scale";
import type { Sheet } from "./sheet";
import { useDrawing } from "./useDrawing";
import type { Arrangement } from "./useGrid";
import { useInView } from "./useInView";
import { useWidth } from "./useWidth";
import { within } from "./view";

/** Height of a row in pixels: without an axis, alone, and among others. */
const rowHeightOf = (picture: Picture | null, labels: number): number =>
  picture?.across === null ? 28 : labels === 0 ? 48 : 22;

/** The most that the rows are high, in pixels; others scroll. */
const mostHeight = (): number => Math.max(264, window.innerHeight - 440);

/** How high it will be, as far as the definition tells it: so nothing below moves when the picture comes. */
const expectedHeight = (
  { dimensions }: components["schemas"]["Definition"],
  timed: boolean,
  named: boolean,
): number => {
  const rows = named ? (dimensions.find(({ count }) => count !== null)?.count ?? 1) : 1;
  const cells = Math.min(rows * (named ? 22 : 48), mostHeight());
  // The buttons, below which there are two lines of text on a narrow screen, the small picture, the axis.
  return cells + (timed ? (window.innerWidth < 768 ? 98 : 44) + MINIMAP + 4 + 24 : 0);
};

/** All partitions of an asset in one picture, at any zoom. */
export const Grid = ({
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
  /** Once there is a picture, with its values if it has some, or why there is none. */
  readonly onDrawn: () => void;
  /** Also with the text that selects the cell. */
  readonly onOpen: (picture: Picture, cell: Cell, text: string) => void;
}) => {
  const [area, fullWidth] = useWidth();
  const [top, setTop] = useState(0);
  const dimensions = useMemo(() => dimensionsOf(definition), [definition]);
  const states = useMemo(() => new Set(shown.states), [shown.states]);
  const { across, down } = arrangement;
  // The server runs time across where nothing else is said; it is asked in parts before it could say so.
  const timed = dimensions.time !== null && (across ?? dimensions.time) === dimensions.time;
  const labels = down === "" || dimensions.names.length < (timed ? 2 : 1) ? 0 : fullWidth < 600 ? 96 : 168;
  const width = Math.max(0, fullWidth - labels);

  const drawing = useDrawing(arrangement, definition, shown, timed, width);
  const { picture, layer, overview, grid, view, bounds, onView, error, none } = drawing;

  const frame = useMemo<Frame>(
    () => ({
      dimensions: dimensions.names,
      time: dimensions.time,
      zone: dimensions.zone ?? "UTC",
      across: picture?.across ?? null,
      down: picture?.down ?? null,
      only: arrangement.only ?? {},
      values: timed ? [] : (picture?.columns.map(({ first }) => first ?? "") ?? []),
    }),
    [dimensions, picture, timed, arrangement.only],
  );
  const [region, setRegion] = useRegion(shown.select, canonical, frame, shown.onSelect);
  // Of what one searches, and of keys that only runs know, those are meant that are shown.
  const named = Boolean(arrangement.search) || dimensions.open;
  useInView(picture, view, frame, named, states, onSeen);

  const rowHeight = rowHeightOf(picture, labels);
  const total = Math.max(1, picture?.rows.length ?? 0) * rowHeight;
  const height = Math.min(total, mostHeight());
  const rowsInAll = named ? Infinity : (picture?.rowCount ?? 0);
  const sheet: Sheet | null =
    picture && view && bounds && !none
      ? { picture, layer, view, bounds, onView, width, height, rowHeight, top, rowsInAll }
      : null;
  const isDrawn = error !== null || none || (sheet !== null && (shown.value === null || layer !== null));
  useEffect(() => {
    if (isDrawn) onDrawn();
  }, [isDrawn, onDrawn]);
  const zone = timed ? frame.zone : null;
  const open = (drawn: Picture, cell: Cell) => {
    if (cell.column.count > 1 && timed && bounds) {
      onView(within(cell.column, bounds));
      return;
    }
    const span = drawn.across === null ? { start: -Infinity, end: Infinity } : cell.column;
    const rows = cell.row.value === null ? null : new Set([cell.row.value]);
    onOpen(drawn, cell, regionText([{ start: span.start, end: span.end, rows }], frame));
  };
  return (
    <>
      <Arrange
        dimensions={dimensions}
        across={across ?? (picture && (picture.across ?? ""))}
        down={down ?? (picture && (picture.down ?? ""))}
        shown={shown}
      />
      <Box ref={area} minHeight="120px">
        {error && !(sheet && error instanceof Problem && error.passing) ? <Trouble error={error} /> : null}
        {none && !error ? <Text color="fg.muted">There is no partition yet.</Text> : null}
        {sheet || none || error ? null : <Skeleton height={`${expectedHeight(definition, timed, labels > 0)}px`} />}
        {sheet ? (
          <>
            <Scale sheet={sheet} overview={overview} zone={zone} states={states} left={labels} />
            <Rows
              asset={arrangement.asset}
              labels={labels}
              metadata={dimensions.open}
              onTop={setTop}
              sheet={sheet}
              zone={zone}
              states={states}
              region={region}
              onRegion={setRegion}
              partitionOf={(cell) => {
                const partition = keyOf(sheet.picture, cell, dimensions.names, arrangement.only);
                return partition === null ? null : { asset: arrangement.asset, partition };
              }}
              onOpen={(cell) => open(sheet.picture, cell)}
            />
            {layer ? (
              <Box ml={`${labels}px`}>
                {picture?.across === null ? null : <ValueLine sheet={sheet} layer={layer} />}
                <ValueLegend layer={layer} several={sheet.picture.cells.some(({ states: all }) => totalOf(all) > 1)} />
              </Box>
            ) : null}
            <MoreRows sheet={sheet} grid={grid} />
          </>
        ) : null}
      </Box>
    </>
  );
};
