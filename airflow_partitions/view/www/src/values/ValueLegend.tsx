import { Box, HStack, Text } from "@chakra-ui/react";

import { counted } from "../page/amounts";
import type { Layer } from "./layer";
import { valueText, VALUES } from "./value";

/** The colour of the least and of the most on the scale. */
const RAMP =
  "linear-gradient(to right, color-mix(in srgb, var(--chakra-colors-blue-solid) 12%, transparent), var(--chakra-colors-blue-solid))";

/** What the colours mean, and what is outside of their scale. */
export const ValueLegend = ({
  layer: { value, measure, ofSeveral, scale, told, untold },
  several,
}: {
  readonly layer: Layer;
  /** Whether cells stand for several partitions. */
  readonly several: boolean;
}) => {
  const text = (amount: number) => valueText(measure, amount);
  return (
    <HStack
      role="group"
      aria-label="Legend"
      tabIndex={0}
      wrap={{ base: "nowrap", md: "wrap" }}
      columnGap={3}
      rowGap={1}
      mt={2}
      minH={6}
      fontSize="sm"
      whiteSpace="nowrap"
      overflowX={{ base: "auto", md: "visible" }}
    >
      <Text fontWeight="medium">{VALUES[value]}</Text>
      {scale === null ? (
        <Text color="fg.muted">no partition in view tells it</Text>
      ) : (
        <>
          {scale.low === scale.high ? (
            <Text>{text(scale.low)} in every cell</Text>
          ) : (
            <HStack gap={2}>
              <Text>{text(scale.low)}</Text>
              <Box
                flexShrink={0}
                width={24}
                height={3}
                borderWidth="1px"
                borderRadius="sm"
                backgroundImage={RAMP}
                aria-hidden
              />
              <Text>{text(scale.high)}</Text>
            </HStack>
          )}
          {scale.most > scale.high ? <Text>▲ the largest 1 %, up to {text(scale.most)}</Text> : null}
          {scale.least < scale.low ? <Text>▼ the smallest 1 %, from {text(scale.least)}</Text> : null}
        </>
      )}
      <Text color="fg.muted">
        {several ? `A cell shows the ${ofSeveral} of its partitions. ` : ""}
        {untold === 0
          ? ""
          : `${counted(untold, "partition")} of ${(told + untold).toLocaleString("en")} tell none (–).`}
      </Text>
    </HStack>
  );
};
