import { Box, HStack, Text } from "@chakra-ui/react";

import { number } from "../page/amounts";
import { useSettled } from "../page/useSettled";
import { looks, statesOf } from "../states/state";
import { StateMark } from "../states/StateMark";
import { useReasons, type PartitionName } from "../states/useReasons";
import { boundsText, cellName } from "./cellText";
import { Note, type NotePlace } from "./Note";
import type { Cell } from "./picture";
import { browserZone } from "./zone";

const MOST_REASONS = 3;

/** What a cell is, beside it. */
export const CellNote = ({
  cell,
  zone,
  value = null,
  partition = null,
  ...place
}: NotePlace & {
  readonly cell: Cell;
  readonly zone: string | null;
  /** Its value in words, where one is chosen. */
  readonly value?: string | null;
  /** The one that it is, where that is known: then it says why, once one stays there. */
  readonly partition?: PartitionName | null;
}) => {
  const name = partition === null ? "" : `${partition.asset} ${partition.partition}`;
  const reasons = useReasons(useSettled(name, "") === name ? partition : null);
  const here = browserZone();
  const single = cell.total === 1;
  return (
    <Note {...place}>
      <Text fontWeight="semibold" dir="auto" lineClamp={3} overflowWrap="anywhere">
        {cellName(cell)}
      </Text>
      {statesOf(cell.states).map((state) => (
        <HStack key={state} gap={2} align="start">
          <StateMark state={state} label={null} size="16px" />
          <Text>
            {single ? "" : `${number(cell.states[state] ?? 0)} `}
            {state}
          </Text>
        </HStack>
      ))}
      {value === null ? null : <Text>{value}</Text>}
      {single && !reasons?.length ? (
        <Text color="fg.muted">{statesOf(cell.states).map((state) => looks[state].meaning)}</Text>
      ) : null}
      {reasons?.slice(0, MOST_REASONS).map((reason) => (
        <Text key={reason} color="fg.muted" lineClamp={3} overflowWrap="anywhere">
          {reason}
        </Text>
      ))}
      {cell.provisional ? <Text color="fg.muted">Provisional: made before the interval was over</Text> : null}
      {zone === null ? null : (
        <Box color="fg.muted" fontSize="xs">
          <Text>
            {boundsText(cell, zone)} ({zone})
          </Text>
          {here === zone ? null : (
            <Text>
              {boundsText(cell, here)} ({here})
            </Text>
          )}
        </Box>
      )}
    </Note>
  );
};
