import { chakra } from "@chakra-ui/react";

import type { Look } from "./state";

/** A look as a coloured square with its mark; give `label={null}` where its name stands beside it. */
export const Mark = ({
  look: { area, ink, path, filled },
  size = "1em",
  label,
}: {
  readonly look: Look;
  readonly size?: string;
  readonly label: string | null;
}) => (
  <chakra.svg
    viewBox="0 0 16 16"
    width={size}
    height={size}
    flexShrink={0}
    display="inline-block"
    verticalAlign="-0.125em"
    borderRadius="2px"
    bg={area}
    color={ink}
    role={label === null ? undefined : "img"}
    aria-label={label ?? undefined}
    aria-hidden={label === null ? true : undefined}
  >
    {filled ? (
      <path d={path} fill="currentColor" />
    ) : (
      <path d={path} fill="none" stroke="currentColor" strokeWidth={1.8} strokeLinecap="round" />
    )}
  </chakra.svg>
);
