import { statesOf, totalOf, type Counts, type State } from "./state";

export type Share = { readonly state: State; readonly length: number };

/**
 * How much of a length each state takes, what is worst first; they add up to the length.
 *
 * Each takes at least `least`, however few of it there are, as far as there is room: the worst first.
 */
export const shares = (counts: Counts, length: number, least: number): readonly Share[] => {
  const present = statesOf(counts);
  const total = totalOf(counts);
  const shown = present.slice(0, Math.max(1, Math.floor(length / least)));
  const small = new Set<State>();
  let free = length;
  let rest = shown.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  for (let changed = true; changed;) {
    changed = false;
    for (const state of shown) {
      const count = counts[state] ?? 0;
      if (small.has(state) || (count / rest) * free >= least || total === count) continue;
      small.add(state);
      free -= least;
      rest -= count;
      changed = true;
    }
  }
  if (small.size === shown.length) return shown.map((state) => ({ state, length: length / shown.length }));
  return shown.map((state) => ({ state, length: small.has(state) ? least : ((counts[state] ?? 0) / rest) * free }));
};
