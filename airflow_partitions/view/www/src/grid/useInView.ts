import { useEffect, useMemo } from "react";

import { regionText, type Frame } from "../selection/text";
import { statesOf, type State } from "../states/state";
import type { Picture, Row } from "./picture";
import { seen } from "./sheet";
import type { Span } from "./view";

/** Whether any partition of a row is in one of the states; true if none is named. */
const isAmong = (picture: Picture, { cells }: Row, states: ReadonlySet<State>): boolean =>
  states.size === 0 ||
  cells.some((cell) => statesOf(picture.cells[cell]?.states ?? {}).some((state) => states.has(state)));

/** Tells the text that selects what is in view; where rows are *named*, those with one of the states. */
export const useInView = (
  picture: Picture | null,
  view: Span | null,
  frame: Frame,
  named: boolean,
  states: ReadonlySet<State>,
  onSeen: (text: string) => void,
): void => {
  const inView = useMemo(() => {
    if (!picture || !view) return "";
    const rows = named
      ? new Set(picture.rows.filter((row) => isAmong(picture, row, states)).map(({ value }) => value ?? ""))
      : null;
    const box = picture.across === null ? { start: -Infinity, end: Infinity } : seen({ picture, view });
    return regionText([{ ...box, rows }], frame);
  }, [picture, view, frame, named, states]);
  useEffect(() => onSeen(inView), [inView, onSeen]);
};
