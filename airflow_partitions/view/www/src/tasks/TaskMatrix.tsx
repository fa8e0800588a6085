import { Box, Button, HStack, Skeleton, Text } from "@chakra-ui/react";
import { keepPreviousData } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import { LONGEST } from "../actions/keyList";
import { dimensionsOf } from "../grid/dimensions";
import type { Arrangement } from "../grid/useGrid";
import { useWidth } from "../grid/useWidth";
import { LIVE } from "../page/queries";
import { Trouble } from "../page/Trouble";
import { useTrouble } from "../page/useTrouble";
import { rest } from "../rest/client";
import type { components } from "../rest/schema";
import { regionText, written } from "../selection/text";
import type { Shown } from "../selection/usePicture";
import { SIDE, TaskGrid } from "./TaskGrid";
import { TaskLegend } from "./TaskLegend";

type Matrix = components["schemas"]["TaskMatrix"];

const [FEWEST, MOST] = [7, 200];

/** Every task of the Dags that make an asset, partition by partition: which step fails, and on which days. */
export const TaskMatrix = ({
  arrangement: { asset, select: narrowed },
  definition,
  shown: { select, states, before, onBefore },
  tasks,
  onSeen,
}: {
  readonly arrangement: Arrangement;
  readonly definition: components["schemas"]["Definition"];
  readonly shown: Shown;
  /** Number of tasks, as far as it is known. */
  readonly tasks: number;
  /** The text that selects what is in view. */
  readonly onSeen: (text: string) => void;
}) => {
  const [area, width] = useWidth();
  // Where one has come from, so that newer ones are the same again.
  const [newer, setNewer] = useState<readonly (string | null)[]>([]);
  const labels = width < 600 ? 96 : 200;
  const limit = Math.min(MOST, Math.max(FEWEST, Math.floor((width - labels) / SIDE)));
  const chosen = select || narrowed;
  const query = rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/tasks",
    {
      params: {
        path: { asset },
        query: { limit, ...(chosen && { select: chosen }), ...(before !== null && { cursor: before }) },
      },
    },
    { enabled: width > 0, refetchInterval: LIVE, placeholderData: keepPreviousData },
  );
  const trouble = useTrouble(query);
  const matrix = query.data;
  const seen = useMemo(() => (matrix === undefined ? "" : seenText(matrix, definition)), [matrix, definition]);
  useEffect(() => onSeen(seen), [seen, onSeen]);
  const meant = useMemo(() => new Set(states), [states]);
  const older = (cursor: string) => {
    setNewer([...newer, before]);
    onBefore(cursor);
  };
  const back = () => {
    onBefore(newer.at(-1) ?? null);
    setNewer(newer.slice(0, -1));
  };
  return (
    <Box ref={area}>
      {trouble !== null && matrix === undefined ? <Trouble error={trouble} /> : null}
      <HStack mb={2} wrap="wrap" visibility={matrix === undefined ? "hidden" : "visible"}>
        <Button
          size="xs"
          variant="outline"
          disabled={matrix?.cursor == null}
          onClick={() => matrix?.cursor != null && older(matrix.cursor)}
        >
          ← Older
        </Button>
        <Text fontSize="sm" overflowWrap="anywhere" minW={0}>
          {matrix === undefined ? "" : rangeWords(matrix)}
        </Text>
        <Button size="xs" variant="outline" disabled={before === null} onClick={back}>
          Newer →
        </Button>
      </HStack>
      {matrix === undefined ? (
        trouble === null ? (
          <Skeleton height={`${(tasks + 1) * SIDE + 36}px`} />
        ) : null
      ) : (
        <>
          <TaskGrid matrix={matrix} labels={labels} states={meant} />
          <TaskLegend matrix={matrix} />
        </>
      )}
    </Box>
  );
};

/** "2013-03-01 to 2013-03-31" */
const rangeWords = ({ partitions }: Matrix): string => {
  const [first, last] = [partitions[0]?.key, partitions.at(-1)?.key];
  if (first === undefined || last === undefined) return "There is no such partition.";
  return first === last ? first : `${first} to ${last}`;
};

/** The text that selects the partitions of a matrix; of times that of their range, else of their keys. */
const seenText = ({ partitions }: Matrix, definition: components["schemas"]["Definition"]): string => {
  const { names, time, zone } = dimensionsOf(definition);
  const [start, end] = [partitions[0]?.start, partitions.at(-1)?.end];
  if (names.length === 1 && time !== null && start != null && end != null) {
    const frame = { dimensions: names, time, zone: zone ?? "UTC", across: time, down: null, values: [], only: {} };
    return regionText([{ start: Date.parse(start), end: Date.parse(end), rows: null }], frame);
  }
  const text = partitions.map(({ key }) => written(key)).join(", ");
  return text.length > LONGEST ? "" : text;
};
