import { Box, Text } from "@chakra-ui/react";
import { useMemo, useRef, useState, type KeyboardEvent } from "react";

import type { components } from "../rest/schema";
import type { State } from "../states/state";
import { linesOf } from "./lines";
import { TaskNote } from "./TaskNote";
import { PartitionCells, TaskCells } from "./TaskRow";

/** Side of a cell in pixels, with the gap to the next. */
export const SIDE = 18;
const STEPS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
};

/** A cell by the numbers of its row and column; row 0 is that of the partitions themselves. */
type Spot = { readonly row: number; readonly column: number };

const elementAt = (target: EventTarget): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>("[data-cell]") : null;

const spotOf = (element: HTMLElement): Spot => {
  const [row = 0, column = 0] = (element.dataset.cell ?? "").split(":").map(Number);
  return { row, column };
};

/** Tasks down, partitions across: what is under the pointer, and ways through it by keys. */
export const TaskGrid = ({
  matrix,
  labels,
  states,
}: {
  readonly matrix: components["schemas"]["TaskMatrix"];
  /** Width of the names of tasks, in pixels. */
  readonly labels: number;
  /** Only partitions in these states count; all if it is empty. */
  readonly states: ReadonlySet<State>;
}) => {
  const area = useRef<HTMLDivElement>(null);
  const [focus, setFocus] = useState<Spot>();
  const [noted, setNoted] = useState<Spot & { readonly x: number; readonly y: number }>();
  const { asset, partitions, dags } = matrix;
  const lines = useMemo(() => linesOf(matrix), [matrix]);
  const dim = useMemo(() => partitions.map(({ state }) => states.size > 0 && !states.has(state)), [partitions, states]);
  const [rows, columns] = [lines.length + 1, partitions.length];
  const reached: Spot =
    focus !== undefined && focus.row < rows && focus.column < columns ? focus : { row: 0, column: columns - 1 };
  const note = (element: HTMLElement | null) => {
    const around = area.current?.getBoundingClientRect();
    if (element === null || around === undefined) {
      setNoted(undefined);
      return;
    }
    const box = element.getBoundingClientRect();
    setNoted({ ...spotOf(element), x: box.left + box.width / 2 - around.left, y: box.top - around.top });
  };
  const go = (event: KeyboardEvent) => {
    const element = elementAt(event.target);
    const step = STEPS[event.key];
    if (element === null) return;
    const { row, column } = spotOf(element);
    const to =
      event.key === "Home"
        ? { row, column: 0 }
        : event.key === "End"
          ? { row, column: columns - 1 }
          : step && { row: row + step[0], column: column + step[1] };
    if (to === undefined) return;
    event.preventDefault();
    area.current?.querySelector<HTMLElement>(`[data-cell="${to.row}:${to.column}"]`)?.focus();
  };
  const inRow = (row: number): number | null => (reached.row === row ? reached.column : null);
  const line = noted && lines[noted.row - 1];
  const partition = noted && partitions[noted.column];
  return (
    <Box
      ref={area}
      role="grid"
      aria-label={`Tasks of ${asset}`}
      position="relative"
      overflowX="auto"
      pb={1}
      css={{
        "& [role=row]": { display: "flex", height: `${SIDE}px`, width: "max-content" },
        "& [role=gridcell]": { width: `${SIDE}px`, height: `${SIDE}px`, padding: "1px", flexShrink: 0 },
        "& [data-cell]": { display: "block", lineHeight: 0, borderRadius: "2px" },
        "& [data-cell]:focus-visible": { outline: "2px solid", outlineColor: "brand.focusRing", outlineOffset: "-1px" },
      }}
      onKeyDown={go}
      onFocus={({ target }) => {
        const element = elementAt(target);
        if (element === null) return;
        setFocus(spotOf(element));
        if (element.matches(":focus-visible")) note(element);
      }}
      onBlur={() => setNoted(undefined)}
      onPointerOver={({ target }) => note(elementAt(target))}
      onPointerLeave={() => setNoted(undefined)}
    >
      <div role="row">
        <RowName name="partition" width={labels} />
        <PartitionCells asset={asset} row={0} partitions={partitions} reached={inRow(0)} dim={dim} />
      </div>
      {lines.map((one, i) => (
        <div key={`${one.dag} ${one.task}`} role="row">
          <RowName name={dags.length > 1 ? `${one.dag}: ${one.task}` : one.task} width={labels} />
          <TaskCells line={one} row={i + 1} partitions={partitions} reached={inRow(i + 1)} dim={dim} />
        </div>
      ))}
      {line && partition ? (
        <TaskNote
          line={line}
          partition={partition}
          column={noted.column}
          area={area}
          x={noted.x}
          y={noted.y}
          height={SIDE}
        />
      ) : null}
    </Box>
  );
};

const RowName = ({ name, width }: { readonly name: string; readonly width: number }) => (
  <Text
    role="rowheader"
    title={name}
    width={`${width}px`}
    flexShrink={0}
    pe={2}
    fontSize="xs"
    lineHeight={`${SIDE}px`}
    truncate
    position="sticky"
    insetStart={0}
    bg="bg"
    zIndex={1}
  >
    <bdi>{name}</bdi>
  </Text>
);
