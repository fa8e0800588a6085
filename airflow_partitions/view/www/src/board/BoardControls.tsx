import { Box, Button, Flex, Input, SegmentGroup } from "@chakra-ui/react";

import { FillButton } from "../actions/FillDialog";
import { Chooser } from "../assets/Chooser";
import { StateChips } from "../states/StateChips";
import { summed } from "../states/state";
import { stretchOf, type Board, type Days, type Period, type Strip } from "./board";
import { tagsOf, type BoardFilters } from "./filters";

const words: readonly (readonly [Days, string])[] = [
  [7, "7 days"],
  [30, "30 days"],
  [90, "90 days"],
  [365, "A year"],
];

const DAY = 86_400_000;

/** A period one length earlier or later; until now where that is not over. */
const moved = (period: Period, board: Board | undefined, by: 1 | -1): Period => {
  const end = Date.parse(period.until ?? board?.columns.at(-1)?.end ?? "");
  const until = end + by * period.days * DAY;
  return { ...period, until: until >= Date.now() ? null : new Date(until).toISOString() };
};

type Content = {
  readonly board: Board | undefined;
  readonly strips: readonly Strip[];
  readonly shown: readonly Strip[];
  readonly period: Period;
  readonly onPeriod: (period: Period) => void;
  readonly filters: BoardFilters;
  readonly onFilters: (change: Partial<BoardFilters>) => void;
  /** Those that are shown and that one may ask for. */
  readonly changeable: readonly string[];
};

/** All of a board's time. */
const allOf = (assets: readonly string[], board: Board) =>
  stretchOf(assets, Date.parse(board.columns[0]?.start ?? ""), Date.parse(board.columns.at(-1)?.end ?? ""), board);

/** Chooses the period and the assets of a board. */
export const BoardControls = ({ board, strips, shown, period, onPeriod, filters, onFilters, changeable }: Content) => (
  <Flex direction="column" gap={2} mb={2}>
    <Flex gap={2} wrap="wrap" align="center">
      <SegmentGroup.Root
        size={{ base: "xs", md: "sm" }}
        aria-label="Period"
        value={String(period.days)}
        onValueChange={({ value }) => {
          const chosen = words.find(([days]) => String(days) === value);
          if (chosen) onPeriod({ ...period, days: chosen[0] });
        }}
      >
        <SegmentGroup.Indicator />
        {words.map(([days, text]) => (
          <SegmentGroup.Item key={days} value={String(days)}>
            <SegmentGroup.ItemText>{text}</SegmentGroup.ItemText>
            <SegmentGroup.ItemHiddenInput />
          </SegmentGroup.Item>
        ))}
      </SegmentGroup.Root>
      <Button size="sm" variant="outline" onClick={() => onPeriod(moved(period, board, -1))}>
        Earlier
      </Button>
      <Button
        size="sm"
        variant="outline"
        disabled={period.until === null}
        onClick={() => onPeriod(moved(period, board, 1))}
      >
        Later
      </Button>
      <Button
        size="sm"
        variant="ghost"
        disabled={period.until === null}
        onClick={() => onPeriod({ ...period, until: null })}
      >
        Now
      </Button>
      <Box
        ms="auto"
        title={
          board !== undefined && changeable.length === 0 ? "You may start a run of none of these assets" : undefined
        }
      >
        <FillButton stretch={board === undefined || changeable.length === 0 ? null : allOf(changeable, board)}>
          Fill what is missing
        </FillButton>
      </Box>
    </Flex>
    <Flex gap={2} wrap="wrap" align="center">
      <Input
        type="search"
        size="sm"
        flex="1 1 12rem"
        maxW="22rem"
        placeholder="Search assets"
        aria-label="Search assets"
        value={filters.search}
        onChange={({ currentTarget }) => onFilters({ search: currentTarget.value })}
      />
      <Chooser
        label="Tag"
        coming={board === undefined}
        values={strips.flatMap(tagsOf)}
        chosen={filters.tags}
        onChange={(tags) => onFilters({ tags })}
      />
      <Chooser
        label="Owner"
        coming={board === undefined}
        values={strips.flatMap(({ owners }) => owners)}
        chosen={filters.owners}
        onChange={(owners) => onFilters({ owners })}
      />
      <Chooser
        label="Group"
        coming={board === undefined}
        values={strips.map(({ group }) => group)}
        chosen={filters.groups}
        onChange={(groups) => onFilters({ groups })}
      />
      <Chooser
        label="Dag"
        coming={board === undefined}
        values={strips.flatMap(({ producers }) => producers)}
        chosen={filters.dags}
        onChange={(dags) => onFilters({ dags })}
      />
    </Flex>
    <StateChips
      counts={summed(shown.map(({ counts }) => counts))}
      chosen={filters.states}
      onChosen={(states) => onFilters({ states })}
    />
  </Flex>
);
