import { Button, Text } from "@chakra-ui/react";
import { useCallback, useMemo, useState } from "react";

import { FirstSteps } from "../assets/FirstSteps";
import { counted } from "../page/amounts";
import { Answer } from "../page/Answer";
import { Loading } from "../page/Loading";
import { Page } from "../page/Page";
import { linesOf, useBoard } from "./board";
import { BoardControls } from "./BoardControls";
import { BoardPick } from "./BoardPick";
import { BoardRectangle } from "./BoardRectangle";
import { BoardRows } from "./BoardRows";
import { NONE, shownStrips, useBoardAddress } from "./filters";
import { isRectangle, renewed, type Picked } from "./rectangle";

/** All assets over one stretch of time, what is upstream above what is made of it. */
export const BoardPage = () => {
  const { period, onPeriod, filters, onFilters } = useBoardAddress();
  const board = useBoard(period);
  const [pick, setPick] = useState<Picked | null>(null);
  const pages = useMemo(() => board.data?.pages ?? [], [board.data]);
  const lines = useMemo(() => linesOf(pages), [pages]);
  const shown = useMemo(() => {
    const strips = shownStrips(
      lines.map(({ strip }) => strip),
      filters,
    );
    return lines.filter(({ strip }) => strips.has(strip));
  }, [lines, filters]);
  const states = useMemo(() => new Set(filters.states), [filters.states]);
  const onPick = useCallback((next: Picked | null) => setPick(next), []);
  const changeable = useMemo(() => shown.flatMap(({ strip }) => (strip.may_change ? [strip.asset] : [])), [shown]);
  const [first] = pages;
  // What was picked, as it is now.
  const now = useMemo(() => pick && renewed(pick, lines), [pick, lines]);
  return (
    <Page title="Board">
      <BoardControls
        board={first}
        strips={lines.map(({ strip }) => strip)}
        shown={shown.map(({ strip }) => strip)}
        period={period}
        onPeriod={(next) => {
          setPick(null);
          onPeriod(next);
        }}
        filters={filters}
        onFilters={onFilters}
        changeable={changeable}
      />
      <Answer query={board} loading={<Loading rows={12} height="22px" />}>
        {() =>
          lines.length === 0 ? (
            <FirstSteps />
          ) : first === undefined || shown.length === 0 ? (
            <Text color="fg.muted" py={4}>
              None of {counted(lines.length, "asset")} fits.{" "}
              <Button size="xs" variant="outline" onClick={() => onFilters(NONE)}>
                Show all
              </Button>
            </Text>
          ) : (
            <BoardRows board={first} lines={shown} period={period} states={states} pick={pick} onPick={onPick} />
          )
        }
      </Answer>
      {first !== undefined && first.hidden > 0 ? (
        <Text color="fg.muted" fontSize="sm" py={2}>
          {counted(first.hidden, "asset")} that you may not read {first.hidden === 1 ? "is" : "are"} left out.
        </Text>
      ) : null}
      {now === null || first === undefined ? null : isRectangle(now) ? (
        <BoardRectangle rectangle={now} board={first} onClose={() => setPick(null)} />
      ) : (
        <BoardPick pick={now} board={first} assets={changeable} onClose={() => setPick(null)} />
      )}
    </Page>
  );
};
