import { HStack, Text } from "@chakra-ui/react";

import { looks, type State } from "./state";
import { StateMark } from "./StateMark";

/** The mark of a state and its name. */
export const StateName = ({ state }: { readonly state: State }) => (
  <HStack as="span" display="inline-flex" gap={1.5} title={looks[state].meaning}>
    <StateMark state={state} label={null} />
    <Text as="span">{state}</Text>
  </HStack>
);
