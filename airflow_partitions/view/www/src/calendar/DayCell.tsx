import { shares } from "../states/shares";
import { looks, type State } from "../states/state";
import type { Cell } from "../grid/picture";

/** Of the square, and of the part of a state, in the units of its mark. */
const SIDE = 16;
const LEAST = 6;

const colour = (token: string): string => `var(--chakra-colors-${token.replaceAll(".", "-")})`;

/** A day as a square: the share of each state, what is worst on top with its mark. */
export const DayCell = ({ cell, states }: { readonly cell: Cell; readonly states: ReadonlySet<State> }) => {
  const parts = shares(cell.states, SIDE, LEAST);
  const isMeant = (state: State): boolean => states.size === 0 || states.has(state);
  const [worst] = parts;
  return (
    <svg
      viewBox={`0 0 ${String(SIDE)} ${String(SIDE)}`}
      width="100%"
      height="100%"
      aria-hidden
      style={{ display: "block", borderRadius: 2 }}
    >
      {parts.map(({ state, length }, i) => (
        <rect
          key={state}
          y={parts.slice(0, i).reduce((sum, part) => sum + part.length, 0)}
          width={SIDE}
          height={length}
          opacity={isMeant(state) ? 1 : 0.2}
          style={{ fill: colour(looks[state].area) }}
        />
      ))}
      {worst === undefined || worst.state === "materialized" || !isMeant(worst.state) ? null : (
        <Mark state={worst.state} height={worst.length} />
      )}
    </svg>
  );
};

/** The mark of a state in the middle of its part, which is that high. */
const Mark = ({ state, height }: { readonly state: State; readonly height: number }) => {
  const { path, ink, filled } = looks[state];
  const size = Math.min(SIDE, height + 2);
  const line = { fill: "none", stroke: colour(ink), strokeWidth: 1.8, strokeLinecap: "round" } as const;
  return (
    <path
      d={path}
      transform={`translate(${String((SIDE - size) / 2)} ${String((height - size) / 2)}) scale(${String(size / SIDE)})`}
      style={filled ? { fill: colour(ink) } : line}
    />
  );
};
