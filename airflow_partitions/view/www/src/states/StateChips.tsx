import { Button, HStack, Text } from "@chakra-ui/react";

import { number } from "../page/amounts";
import { looks, statesOf, type Counts, type State } from "./state";
import { StateMark } from "./StateMark";

/** How many partitions are in each state; a click shows only those, another all again. They are a legend, too. */
export const StateChips = ({
  counts,
  chosen,
  onChosen,
  provisional = 0,
}: {
  readonly counts: Counts;
  /** How many of them were made before their interval was over. */
  readonly provisional?: number;
  readonly chosen: readonly State[];
  readonly onChosen: (chosen: readonly State[]) => void;
}) => {
  const shown = [...new Set([...statesOf(counts), ...chosen])];
  return (
    <HStack
      role="group"
      aria-label="Show only some states"
      wrap={{ base: "nowrap", md: "wrap" }}
      gap={2}
      width={{ base: "full", md: "auto" }}
      minW={0}
      minH={8}
      overflowX={{ base: "auto", md: "visible" }}
    >
      {shown.map((state) => {
        const pressed = chosen.includes(state);
        return (
          <Button
            key={state}
            size="xs"
            flexShrink={0}
            variant={pressed ? "subtle" : "outline"}
            colorPalette={pressed ? "brand" : "gray"}
            aria-pressed={pressed}
            title={looks[state].meaning}
            onClick={() => onChosen(pressed ? chosen.filter((one) => one !== state) : [...chosen, state])}
          >
            <StateMark state={state} label={null} size="14px" />
            <Text as="span" fontWeight="semibold">
              {number(counts[state] ?? 0)}
            </Text>
            <Text as="span" fontWeight="normal">
              {state}
            </Text>
          </Button>
        );
      })}
      {provisional > 0 ? (
        <Text fontSize="xs" color="fg.muted">
          {number(provisional)} provisional (a corner is cut): made before the interval was over
        </Text>
      ) : null}
      {chosen.length > 0 ? (
        <Button size="xs" variant="ghost" onClick={() => onChosen([])}>
          Show all
        </Button>
      ) : null}
    </HStack>
  );
};
