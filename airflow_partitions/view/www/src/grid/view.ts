/** A stretch of the axis: of time in milliseconds, or of columns by their number. */
export type Span = { readonly start: number; readonly end: number };

export const lengthOf = ({ start, end }: Span): number => end - start;

/** What may be looked at: all of it, and the shortest stretch that makes sense. */
export type Bounds = Span & { readonly least: number };

/** The part of the axis that is looked at, what may be, and what looks elsewhere. */
export type Viewport = { readonly view: Span; readonly bounds: Bounds; readonly onView: (view: Span) => void };

/** The nearest view that is within the bounds. */
export const within = (view: Span, bounds: Bounds): Span => {
  const length = Math.min(Math.max(lengthOf(view), bounds.least), Math.max(lengthOf(bounds), bounds.least));
  const start = Math.max(Math.min(view.start, bounds.end - length), bounds.start);
  return { start, end: start + length };
};

/** The view, longer by a factor, with what is at a place staying there. */
export const zoomed = (view: Span, factor: number, at: number, bounds: Bounds): Span => {
  const length = Math.min(Math.max(lengthOf(view) * factor, bounds.least), Math.max(lengthOf(bounds), bounds.least));
  const ratio = lengthOf(view) === 0 ? 0.5 : (at - view.start) / lengthOf(view);
  const start = at - ratio * length;
  return within({ start, end: start + length }, bounds);
};

export const moved = (view: Span, by: number, bounds: Bounds): Span =>
  within({ start: view.start + by, end: view.end + by }, bounds);

/** The newest part of the bounds, that long. */
export const newest = (bounds: Bounds, length: number): Span =>
  within({ start: bounds.end - length, end: bounds.end }, bounds);

/**
 * What to ask the server for to draw a view: the same for views near it.
 *
 * It holds the view, is at most four times as long, and its bounds are multiples of its level, the next power of two.
 */
export const tileOf = (view: Span, bounds: Span): Span & { readonly level: number } => {
  const level = 2 ** Math.ceil(Math.log2(Math.max(lengthOf(view), 1)));
  return {
    start: Math.max(Math.floor(view.start / level) * level, bounds.start),
    end: Math.min(Math.ceil(view.end / level) * level, bounds.end),
    level,
  };
};
