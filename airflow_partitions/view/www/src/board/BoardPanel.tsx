import { Box, CloseButton, Flex, Heading, HStack, Text } from "@chakra-ui/react";
import type { ReactNode } from "react";

import { number } from "../page/amounts";
import { StateName } from "../states/StateName";
import { statesOf, totalOf, type Counts } from "../states/state";

/** Below the board: what was picked, in which states it is, and what can be done with it. */
export const BoardPanel = ({
  title,
  counts,
  onClose,
  children,
}: {
  readonly title: ReactNode;
  readonly counts: Counts;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) => (
  <Box
    as="section"
    aria-label="What was picked"
    position="sticky"
    bottom={0}
    zIndex={2}
    maxH="45vh"
    overflowY="auto"
    mt={2}
    p={3}
    bg="bg.panel"
    borderWidth={1}
    borderRadius="md"
    shadow="md"
  >
    <Flex justify="space-between" align="start" gap={2}>
      <Box minW={0}>
        <Heading as="h2" size="sm" overflowWrap="anywhere">
          {title}
        </Heading>
        <HStack gap={3} wrap="wrap" fontSize="sm" my={1}>
          {statesOf(counts).map((state) => (
            <HStack key={state} as="span" gap={1}>
              <Text as="span">{number(counts[state] ?? 0)}</Text> <StateName state={state} />
            </HStack>
          ))}
          {totalOf(counts) === 0 ? <Text color="fg.muted">no partition yet</Text> : null}
        </HStack>
      </Box>
      <CloseButton size="sm" aria-label="Close" onClick={onClose} />
    </Flex>
    {children}
  </Box>
);
