import { Box, Flex } from "@chakra-ui/react";

import { shares } from "./shares";
import { countsText, looks, type Counts } from "./state";

/** How many partitions are in each state, as a bar; a state that is there is seen, however few of it there are. */
export const StateBar = ({ counts, height = "10px" }: { readonly counts: Counts; readonly height?: string }) => {
  const text = countsText(counts) || "no partitions";
  return (
    <Flex
      role="img"
      aria-label={text}
      title={text}
      height={height}
      width="100%"
      minWidth="40px"
      gap="1px"
      borderRadius="sm"
      overflow="hidden"
      bg={text === "no partitions" ? "bg.muted" : undefined}
    >
      {shares(counts, 100, 2).map(({ state, length }) => (
        <Box key={state} bg={looks[state].area} flexGrow={length} flexBasis={0} minWidth="3px" />
      ))}
    </Flex>
  );
};
