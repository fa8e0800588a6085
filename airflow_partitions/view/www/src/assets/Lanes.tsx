import { Box } from "@chakra-ui/react";

import type { Placed } from "./lineage";

const STEP = 16;
const MOST = 8; // deeper ones are drawn at this depth

const x = (level: number) => Math.min(level, MOST) * STEP + 8;

/** The lines of the asset graph past one row and to its asset. */
export const Lanes = ({ level, past, into, out }: Omit<Placed, "asset">) => (
  <Box
    position="relative"
    flexShrink={0}
    alignSelf="stretch"
    width={`${x(level) + 10}px`}
    color="border.emphasized"
    hideBelow="md"
    aria-hidden
  >
    <svg width="100%" height="100%" style={{ position: "absolute", inset: 0, overflow: "visible" }}>
      <g stroke="currentColor" strokeWidth="2" fill="none">
        {past.map((depth) => (
          <line key={depth} x1={x(depth)} x2={x(depth)} y1="0" y2="100%" />
        ))}
        {into.map((depth) => (
          <g key={depth}>
            <line x1={x(depth)} x2={x(depth)} y1="0" y2="50%" />
            <line x1={x(depth)} x2={x(level)} y1="50%" y2="50%" />
          </g>
        ))}
        {out && <line x1={x(level)} x2={x(level)} y1="50%" y2="100%" />}
      </g>
      <circle cx={x(level)} cy="50%" r="4" fill="currentColor" />
    </svg>
  </Box>
);
