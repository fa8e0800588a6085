import { useSyncExternalStore } from "react";

import { looks, states, type State } from "./state";

/** Colours of the theme as CSS writes them, for what is drawn on a canvas. */
export type Palette = {
  readonly area: Readonly<Record<State, string>>;
  readonly ink: Readonly<Record<State, string>>;
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly ground: string;
  readonly focus: string;
  /** Of a value on its scale, and of one outside of it. */
  readonly value: string;
  readonly outside: string;
};

const read = (style: CSSStyleDeclaration, token: string): string =>
  style.getPropertyValue(`--chakra-colors-${token.replaceAll(".", "-")}`).trim() || "gray";

const readPalette = (): Palette => {
  const style = getComputedStyle(document.documentElement);
  const byState = (part: "area" | "ink") =>
    Object.fromEntries(states.map((state) => [state, read(style, looks[state][part])])) as Record<State, string>;
  return {
    area: byState("area"),
    ink: byState("ink"),
    text: read(style, "fg"),
    muted: read(style, "fg.muted"),
    line: read(style, "border"),
    ground: read(style, "bg"),
    focus: read(style, "brand.fg"),
    value: read(style, "blue.solid"),
    outside: read(style, "orange.solid"),
  };
};

let palette: Palette | undefined;

const current = (): Palette => (palette ??= readPalette());

const subscribe = (changed: () => void): (() => void) => {
  const again = () => {
    palette = readPalette();
    changed();
  };
  const theme = new MutationObserver(again);
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "data-theme", "style"] });
  return () => theme.disconnect();
};

/** The colours of the theme; whoever uses them draws again when it changes. */
export const usePalette = (): Palette => useSyncExternalStore(subscribe, current);
