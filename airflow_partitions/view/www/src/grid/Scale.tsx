import { Box, Wrap } from "@chakra-ui/react";

import type { State } from "../states/state";
import { Axis } from "./Axis";
import { Jumps } from "./Jumps";
import { HEIGHT as MINIMAP, Minimap } from "./Minimap";
import type { Picture } from "./picture";
import { seen, type Sheet } from "./sheet";
import { lengthOf } from "./view";
import { Zoom } from "./Zoom";

/** Above the cells: what their columns are, and of time also what leads elsewhere. */
export const Scale = ({
  sheet,
  overview,
  zone,
  states,
  left,
}: {
  readonly sheet: Sheet;
  /** All of the axis, as soon as it is there. */
  readonly overview: Picture | null;
  /** Of the axis; `null` if it is no time. */
  readonly zone: string | null;
  readonly states: ReadonlySet<State>;
  /** Where the columns begin. */
  readonly left: number;
}) => {
  const { picture, view, bounds, onView, width } = sheet;
  return (
    <>
      {zone === null ? null : (
        <Wrap mb={3} gap={3} align="center">
          <Zoom view={view} shown={seen(sheet)} bounds={bounds} zone={zone} unit={picture.unit} onView={onView} />
          {overview && states.size > 0 ? (
            <Jumps picture={overview} states={states} view={view} bounds={bounds} onView={onView} />
          ) : null}
        </Wrap>
      )}
      <Box ml={`${left}px`}>
        {zone === null || lengthOf(view) >= lengthOf(bounds) ? null : overview === null ? (
          <Box height={`${MINIMAP}px`} mb={1} />
        ) : (
          <Minimap picture={overview} bounds={bounds} view={view} width={width} states={states} onView={onView} />
        )}
        {picture.across === null ? null : <Axis picture={picture} view={view} width={width} zone={zone} />}
      </Box>
    </>
  );
};
