import { number } from "../page/amounts";
import type { components } from "../rest/schema";

export type State = components["schemas"]["State"];

/** Numbers of partitions by state; a state that is left out has none. */
export type Counts = Readonly<Partial<Record<State, number>>>;

/** How a state looks: Airflow's own colours, and a mark for who can't tell them apart. */
export type Look = {
  /** What it means, in one sentence. */
  readonly meaning: string;
  /** Tokens of Airflow's theme: of the area, and of what is drawn on it. */
  readonly area: string;
  readonly ink: string;
  /** Path of the mark in a square of 16 by 16, filled or drawn as a line. */
  readonly path: string;
  readonly filled: boolean;
};

const solid = (token: string) => ({ area: `${token}.solid`, ink: `${token}.contrast` });

/** The states, what is worst first. */
export const looks: Readonly<Record<State, Look>> = {
  failed: {
    ...solid("failed"),
    meaning: "Its newest run failed, and nothing has materialized it since then",
    path: "M4.5 4.5 11.5 11.5M11.5 4.5 4.5 11.5",
    filled: false,
  },
  stale: {
    ...solid("warning"),
    meaning: "A partition that it depends on was materialized later than it",
    path: "M7 3h2v6.2H7zM7 11h2v2H7z",
    filled: true,
  },
  missing: {
    area: "none.emphasized",
    ink: "none.fg",
    meaning: "Nothing has materialized it",
    path: "M8 4.6a3.4 3.4 0 1 1 0 6.8a3.4 3.4 0 1 1 0-6.8z",
    filled: false,
  },
  waiting: {
    ...solid("deferred"),
    meaning: "Some of what it needs is there, or it was asked for",
    path: "M4 3h8L8 8zM4 13h8L8 8z",
    filled: true,
  },
  queued: {
    ...solid("queued"),
    meaning: "A run of it has yet to begin",
    path: "M3 7h2v2H3zM7 7h2v2H7zM11 7h2v2h-2z",
    filled: true,
  },
  running: { ...solid("running"), meaning: "A run of it is at work", path: "M5 3.5v9L12.5 8z", filled: true },
  skipped: {
    ...solid("skipped"),
    meaning: "The task that makes it skipped itself",
    path: "M3.5 4.5 7 8l-3.5 3.5M8.5 4.5 12 8l-3.5 3.5",
    filled: false,
  },
  materialized: {
    ...solid("success"),
    meaning: "It was materialized",
    path: "M3.5 8.5 6.8 11.5 12.5 4.8",
    filled: false,
  },
};

/** All states, what is worst first. */
export const states = Object.keys(looks) as readonly State[];

export const isState = (text: string): text is State => Object.hasOwn(looks, text);

/** The states of these counts, what is worst first. */
export const statesOf = (counts: Counts): readonly State[] => states.filter((state) => (counts[state] ?? 0) > 0);

export const totalOf = (counts: Counts): number => states.reduce((total, state) => total + (counts[state] ?? 0), 0);

/** Several counts together. */
export const summed = (all: readonly Counts[]): Counts => {
  const sum: Partial<Record<State, number>> = {};
  for (const counts of all) for (const state of statesOf(counts)) sum[state] = (sum[state] ?? 0) + (counts[state] ?? 0);
  return sum;
};

/** "3 failed, 1,204 materialized". */
export const countsText = (counts: Counts): string =>
  statesOf(counts)
    .map((state) => `${number(counts[state] ?? 0)} ${state}`)
    .join(", ");
