import type { KeyboardEvent } from "react";

import type { Region } from "../selection/region";
import { columnAt, namesOf } from "./picture";
import { seen, type Sheet } from "./sheet";
import { newestSpot, placeOf, stepped, type Spot } from "./spot";
import type { Cursor } from "./useCursor";
import { lengthOf, moved, newest, within, zoomed, type Span } from "./view";

/** Steps of the arrows: columns and rows. */
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Where a key looks, from a place of the axis; `null` for other keys. */
const lookedAt = (key: string, { view, bounds }: Sheet, at: number): Span | null => {
  const length = lengthOf(view);
  switch (key) {
    case "+":
    case "=":
      return zoomed(view, 0.5, at, bounds);
    case "-":
      return zoomed(view, 2, at, bounds);
    case "Home":
      return within({ start: bounds.start, end: bounds.start + length }, bounds);
    case "End":
      return newest(bounds, length);
    case "PageUp":
      return moved(view, -length, bounds);
    case "PageDown":
      return moved(view, length, bounds);
    default:
      return null;
  }
};

/** The view moved so far that a cell is in it. */
const showing = ({ picture, view, bounds }: Sheet, { at }: Spot): Span | null => {
  const end = picture.columns[columnAt(picture.columns, at)]?.end ?? at;
  if (at < view.start) return within({ start: at, end: at + lengthOf(view) }, bounds);
  return end > view.end ? within({ start: end - lengthOf(view), end }, bounds) : null;
};

/** All that is in view. */
const allInView = (sheet: Sheet): Region => {
  const { picture, rowsInAll } = sheet;
  const names = namesOf(picture);
  const columns = picture.across === null ? { start: -Infinity, end: Infinity } : seen(sheet);
  return [{ ...columns, rows: picture.down !== null && rowsInAll > names.length ? new Set(names) : null }];
};

/** Does what a key means among the cells; of other keys the page hears. */
export const press = (event: KeyboardEvent, sheet: Sheet, cursor: Cursor, onReveal: (row: number) => void): void => {
  const { focus, anchor, region, onRegion } = cursor;
  const here = focus !== null && placeOf(sheet.picture, focus) !== null ? focus : newestSpot(sheet);
  const arrow = ARROWS[event.key];
  const looked = lookedAt(event.key, sheet, here.at);
  if (arrow) {
    const next = stepped(sheet.picture, here, ...arrow);
    const view = showing(sheet, next);
    cursor.setFocus(next);
    onReveal(next.row);
    if (view) sheet.onView(view);
    cursor.setAnchor(event.shiftKey ? (anchor ?? here) : null);
    if (event.shiftKey) cursor.select(anchor ?? here, next);
  } else if (event.key === " ") {
    cursor.setAnchor(here);
    cursor.select(here, here, true);
  } else if (event.key === "Enter") cursor.open(here);
  else if (event.key === "a" && (event.ctrlKey || event.metaKey)) onRegion(allInView(sheet));
  else if (event.key === "Escape" && region.length > 0) onRegion([]);
  else if (looked) sheet.onView(looked);
  else return;
  event.preventDefault();
};
