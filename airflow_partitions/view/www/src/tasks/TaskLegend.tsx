import { HStack, Text } from "@chakra-ui/react";

import { number } from "../page/amounts";
import type { components } from "../rest/schema";
import { Mark } from "../states/Mark";
import { linesOf } from "./lines";
import { inOrder, lookOf, noRun, stateWords } from "./taskState";

/** How many cells are in each state, with its mark. */
export const TaskLegend = ({ matrix }: { readonly matrix: components["schemas"]["TaskMatrix"] }) => {
  const numbers = new Map<string | null, number>();
  let without = 0;
  for (const { cells } of linesOf(matrix))
    for (const cell of cells)
      if (cell === null) without += 1;
      else numbers.set(cell.state, (numbers.get(cell.state) ?? 0) + 1);
  return (
    <HStack role="group" aria-label="Legend" wrap="wrap" columnGap={4} rowGap={1} mt={2} fontSize="sm" minH={6}>
      {inOrder(numbers.keys()).map((state) => (
        <HStack key={state} gap={1.5} title={lookOf(state).meaning}>
          <Mark look={lookOf(state)} label={null} size="14px" />
          <Text>
            {number(numbers.get(state) ?? 0)} {stateWords(state)}
          </Text>
        </HStack>
      ))}
      {without > 0 ? (
        <HStack gap={1.5} title={noRun.meaning}>
          <Mark look={noRun} label={null} size="14px" />
          <Text>{number(without)} no run</Text>
        </HStack>
      ) : null}
    </HStack>
  );
};
