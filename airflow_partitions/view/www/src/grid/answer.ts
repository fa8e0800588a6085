import type { components } from "../rest/schema";
import type { Counts } from "../states/state";

type Grid = components["schemas"]["Grid"];

/** How many partitions of a cell are in which state, and how many of them were made before their interval was over. */
export type CellCounts = { readonly states: Counts; readonly provisional?: number };

export type Column = components["schemas"]["Slot"];

/** What the server answers for a part of an asset's partitions: columns, and rows as run lengths of cells. */
export type Answer = Omit<Grid, "cells" | "rows"> & {
  readonly cells: readonly CellCounts[];
  readonly rows: readonly { readonly value: string | null; readonly runs: readonly (readonly number[])[] }[];
};
