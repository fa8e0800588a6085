import type { Picture } from "./picture";
import type { Layer } from "../values/layer";
import { lengthOf, type Span, type Viewport } from "./view";

/** A picture as it lies on the screen: the part of it in view, and its sizes in pixels. */
export type Sheet = Viewport & {
  readonly picture: Picture;
  /** A value in each cell, where one is chosen. */
  readonly layer: Layer | null;
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  /** How far the rows are scrolled. */
  readonly top: number;
  /** Number of all rows; infinite where none but those that are shown are meant. */
  readonly rowsInAll: number;
};

/** The stretch of the axis that some pixels are long. */
export const stretchOf = ({ view, width }: Sheet, pixels: number): number => (pixels / width) * lengthOf(view);

/** The place of the axis so many pixels from the left. */
export const atX = (sheet: Sheet, x: number): number => sheet.view.start + stretchOf(sheet, x);

/** The columns that are seen at least in part, as a span. */
export const seen = ({ picture, view }: Pick<Sheet, "picture" | "view">): Span => {
  const columns = picture.columns.filter(({ start, end }) => start < view.end && end > view.start);
  return { start: columns[0]?.start ?? view.start, end: columns.at(-1)?.end ?? view.end };
};
