import { Badge, Box, Flex, IconButton, Link, Text } from "@chakra-ui/react";
import { memo, useRef, useState, type PointerEvent } from "react";
import { Link as RouterLink } from "react-router-dom";

import { causes } from "../assets/words";
import { Canvas } from "../grid/Canvas";
import { CellNote } from "../grid/CellNote";
import { paths } from "../page/paths";
import { usePalette } from "../states/palette";
import { StateBar } from "../states/StateBar";
import { countsText, totalOf, type State } from "../states/state";
import { pickKey, type Line } from "./board";
import { columnAtX, drawStrip, slotX } from "./drawStrip";
import { slotAt } from "./rectangle";

/** Height of a row of cells. */
const STRIP = 22;
/** Levels of the graph are told apart up to this one. */
const DEEPEST = 8;

const Name = ({ line, opened, onOpened }: Pick<Content, "line" | "opened" | "onOpened">) => {
  const { strip, value, level } = line;
  const indent = `${String(Math.min(level, DEEPEST) * 10 + (value === null ? 0 : 24))}px`;
  if (value !== null) {
    return (
      <Text ps={indent} fontSize="sm" color="fg.muted" truncate title={value}>
        <bdi>{value}</bdi>
      </Text>
    );
  }
  return (
    <Flex ps={indent} gap={1} align="center" minW={0}>
      <Link asChild color="fg.info" fontSize="sm" display="block" minW={0} truncate>
        <RouterLink to={paths.asset(strip.asset)} title={strip.asset}>
          <bdi>{strip.asset}</bdi>
        </RouterLink>
      </Link>
      {strip.folded === null ? null : (
        <IconButton
          size="2xs"
          variant="ghost"
          flexShrink={0}
          aria-expanded={opened}
          aria-label={`Rows of ${strip.asset} by ${strip.folded}`}
          title={`Rows by ${strip.folded}`}
          onClick={() => onOpened(strip.asset)}
        >
          <span aria-hidden>{opened ? "▾" : "▸"}</span>
        </IconButton>
      )}
      {strip.absent.map((dag) => (
        <Badge key={dag.dag_id} colorPalette="red" title={dag.text} flexShrink={0}>
          {causes[dag.cause]}
        </Badge>
      ))}
      {strip.paused.length > 0 ? (
        <Badge colorPalette="orange" title={`Paused: ${strip.paused.join(", ")}; no runs begin`} flexShrink={0}>
          paused
        </Badge>
      ) : null}
    </Flex>
  );
};

type Content = {
  readonly line: Line;
  readonly columns: number;
  /** Width of the cells. */
  readonly width: number;
  readonly states: ReadonlySet<State>;
  /** Numbers of the slots that are marked or picked, or `null`; and that of the cursor. */
  readonly from: number | null;
  readonly until: number | null;
  /** Whether something is dragged. */
  readonly drags: boolean;
  readonly focus: number | null;
  readonly zone: string | null;
  readonly opened: boolean;
  readonly onOpened: (asset: string) => void;
};

/** The cells of a row with time, and what is under the pointer. */
const Cells = ({ line, columns, width, states, from, until, drags, focus, zone }: Content) => {
  const area = useRef<HTMLDivElement>(null);
  const palette = usePalette();
  const [hover, setHover] = useState<number | null>(null);
  const slots = line.slots ?? [];
  const at = ({ clientX }: PointerEvent): number | null => {
    const left = area.current?.getBoundingClientRect().left ?? 0;
    const slot = slotAt(slots, columnAtX(columns, width, clientX - left));
    return slot < 0 ? null : slot;
  };
  const picked = from === null || until === null ? null : ([from, until] as const);
  const spot = hover ?? focus;
  // What is marked or picked is told elsewhere, and a note would lie above that.
  const isTold = hover === null && picked !== null && focus !== null && picked[0] <= focus && focus <= picked[1];
  const slot = spot === null ? undefined : slots[spot];
  const cell = spot === null ? undefined : line.cells[spot];
  const partition = spot === null ? undefined : pickKey({ line, from: spot, until: spot });
  const scene = { slots, cells: line.cells, columns, width, height: STRIP, states, picked, spot };
  return (
    <Box
      ref={area}
      data-strip={line.key}
      position="relative"
      width={`${String(width)}px`}
      height={`${String(STRIP)}px`}
      cursor={cell && totalOf(cell.states) > 0 ? "pointer" : "default"}
      userSelect="none"
      touchAction="pan-y"
      onPointerMove={(event) => setHover(event.pointerType === "touch" ? null : at(event))}
      onPointerLeave={() => setHover(null)}
    >
      <Canvas width={width} height={STRIP} draw={(canvas) => drawStrip(canvas, palette, scene)} />
      {slot !== undefined && cell !== undefined && !drags && !isTold && totalOf(cell.states) > 0 ? (
        <CellNote
          cell={{
            ...cell,
            column: slot,
            row: { value: line.value, cells: new Uint32Array() },
            total: totalOf(cell.states),
          }}
          zone={zone}
          partition={partition === undefined ? null : { asset: line.strip.asset, partition }}
          area={area}
          x={slotX(slot, columns, width).reduce((sum, x) => sum + x / 2, 0)}
          y={0}
          height={STRIP}
        />
      ) : null}
    </Box>
  );
};

/** What stands in a row instead of cells. */
const Instead = ({ line }: Pick<Content, "line">) => {
  const { strip, slots, cells } = line;
  if (strip.error !== null) {
    return (
      <Text fontSize="xs" color="fg.error" truncate title={strip.error}>
        Its partitions can’t be shown: {strip.error}
      </Text>
    );
  }
  if (slots !== null) {
    return (
      <Text fontSize="xs" color="fg.muted" truncate>
        no partitions here
      </Text>
    );
  }
  const counts = cells[0]?.states ?? {};
  return (
    <Flex align="center" gap={2} minW={0} cursor="pointer" userSelect="none" touchAction="pan-y" data-strip={line.key}>
      <Box width="8rem" flexShrink={0}>
        <StateBar counts={counts} height="14px" />
      </Box>
      <Text fontSize="xs" color="fg.muted" truncate>
        no time: {countsText(counts) || "no partitions"}
      </Text>
    </Flex>
  );
};

/** A row of a board: the name of an asset, and its partitions over time. */
export const BoardRow = memo((content: Content & { readonly labels: number }) => {
  const { line, labels, width } = content;
  const cells = line.slots !== null && line.slots.length > 0 && line.strip.error === null;
  return (
    <Flex
      direction={labels === 0 ? "column" : "row"}
      align={labels === 0 ? "stretch" : "center"}
      justify="center"
      height="100%"
      _hover={{ bg: "bg.subtle" }}
    >
      <Box width={labels === 0 ? "full" : `${String(labels)}px`} pe={3} flexShrink={0} minW={0}>
        <Name {...content} />
      </Box>
      <Box width={`${String(width)}px`} minW={0} flexShrink={0}>
        {cells ? <Cells {...content} /> : <Instead {...content} />}
      </Box>
    </Flex>
  );
});
BoardRow.displayName = "BoardRow";
