import { renderHook } from "@testing-library/react";
import { describe, expect, test } from "vitest";

import cases from "../../../../../tests/core/dependencies/selection_cases.json";
import { holds, withBox, type Region } from "../../src/selection/region";
import { keyParts, momentOf, regionText, type Frame } from "../../src/selection/text";
import { useRegion } from "../../src/selection/useRegion";

/** What the server's own tests take, too: what it selects is what is painted here. */
type Form =
  | { readonly kind: "interval"; readonly name: string; readonly timezone: string }
  | { readonly kind: "sequence"; readonly name: string; readonly values: readonly string[] }
  | { readonly kind: "runtime"; readonly name: string };

const formOf: Readonly<Record<string, { readonly form: unknown }>> = cases.definitions;

const dimensionsOf = (name: string): readonly Form[] => {
  const form = formOf[name]?.form as Form | { readonly kind: "product"; readonly dimensions: readonly Form[] };
  return form.kind === "product" ? form.dimensions : [form];
};

/** All keys that any case has. */
const keysOf = (name: string): readonly string[] => [
  ...new Set(cases.cases.flatMap((each) => (each.of === name ? (each.keys ?? []) : []))),
];

/** The picture as the page opens: time across, else the second dimension; the first other one down. */
const frameOf = (name: string): Frame => {
  const dimensions = dimensionsOf(name);
  const time = dimensions.find(({ kind }) => kind === "interval");
  const across = time ?? dimensions[1];
  return {
    dimensions: dimensions.map((dimension) => dimension.name),
    time: time?.name ?? null,
    zone: time?.kind === "interval" ? time.timezone : "UTC",
    across: across?.name ?? null,
    down: dimensions.find((dimension) => dimension !== across)?.name ?? null,
    values: across?.kind === "sequence" ? across.values : [],
    only: {},
  };
};

/** Where the cell of a key is. */
const cellOf = (key: string, frame: Frame) => {
  const parts = frame.dimensions.length > 1 ? keyParts(key) : [key];
  const valueOf = (name: string | null) => (name === null ? undefined : parts[frame.dimensions.indexOf(name)]);
  const across = valueOf(frame.across) ?? "";
  const at =
    frame.across === null ? 0 : frame.time === null ? frame.values.indexOf(across) : momentOf(across, frame.zone);
  return { at: at ?? Number.NaN, row: valueOf(frame.down) ?? null };
};

const paintedKeys = (of: string, region: Region) => {
  const frame = frameOf(of);
  return keysOf(of).filter((key) => {
    const { at, row } = cellOf(key, frame);
    return holds(region, at, row);
  });
};

const sorted = (keys: readonly string[]) => [...keys].sort();

describe.each(cases.cases)("$of: $text", ({ of, text, keys, canonical }) => {
  test("paints what the server says that it selects", () => {
    const { result } = renderHook(() => useRegion(text, canonical, frameOf(of), () => undefined));
    expect(sorted(paintedKeys(of, result.current[0]))).toEqual(sorted(keys ?? []));
  });
});

describe.each(cases.painted)("$of: $text", ({ of, text, keys }) => {
  test("is what is written for painted cells", () => {
    const frame = frameOf(of);
    const rows = keysOf(of).flatMap((key) => cellOf(key, frame).row ?? []);
    const region = (keys ?? []).reduce<Region>((painted, key) => {
      const { at, row } = cellOf(key, frame);
      const span = frame.across === null ? { start: -Infinity, end: Infinity } : { start: at, end: at + 1 };
      return withBox(painted, { ...span, rows: row === null ? null : new Set([row]) }, rows);
    }, []);
    expect(regionText(keys === undefined ? [{ start: -Infinity, end: Infinity, rows: null }] : region, frame)).toBe(
      text,
    );
  });
});
