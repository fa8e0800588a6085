import { Box, HStack, Portal, Stack, Text } from "@chakra-ui/react";
import { useLayoutEffect, useRef, type RefObject } from "react";

import { number } from "../page/amounts";
import { useSettled } from "../page/useSettled";
import { looks, statesOf } from "../states/state";
import { StateMark } from "../states/StateMark";
import { useReasons, type PartitionName } from "../states/useReasons";
import { boundsText, cellName } from "./cellText";
import type { Cell } from "./picture";
import { browserZone } from "./zone";

const WIDTH = 300;
const GAP = 8;
const MOST_REASONS = 3;

/** What a cell is, beside it; it takes no clicks. */
export const CellNote = ({
  cell,
  zone,
  value = null,
  partition = null,
  area,
  x,
  y,
  height,
}: {
  readonly cell: Cell;
  readonly zone: string | null;
  /** Its value in words, where one is chosen. */
  readonly value?: string | null;
  /** The one that it is, where that is known: then it says why, once one stays there. */
  readonly partition?: PartitionName | null;
  /** What the cell is in. */
  readonly area: RefObject<HTMLElement | null>;
  /** The middle of the cell, and its upper edge, in the area. */
  readonly x: number;
  readonly y: number;
  readonly height: number;
}) => {
  const note = useRef<HTMLDivElement>(null);
  const name = partition === null ? "" : `${partition.asset} ${partition.partition}`;
  const reasons = useReasons(useSettled(name, "") === name ? partition : null);
  useLayoutEffect(() => {
    const element = note.current;
    const around = area.current?.getBoundingClientRect();
    if (element === null || around === undefined) return;
    const left = around.left + x - WIDTH / 2;
    const below = around.top + y + height + GAP;
    const above = around.top + y - GAP - element.offsetHeight;
    element.style.left = `${Math.max(GAP, Math.min(left, window.innerWidth - WIDTH - GAP))}px`;
    element.style.top = `${below + element.offsetHeight > window.innerHeight && above > 0 ? above : below}px`;
  });
  const here = browserZone();
  const single = cell.total === 1;
  return (
    <Portal>
      <Stack
        ref={note}
        position="fixed"
        width={`${WIDTH}px`}
        zIndex="popover"
        pointerEvents="none"
        aria-hidden
        gap={1}
        p={3}
        bg="bg.panel"
        borderWidth="1px"
        borderRadius="md"
        shadow="md"
        fontSize="sm"
      >
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
      </Stack>
    </Portal>
  );
};
