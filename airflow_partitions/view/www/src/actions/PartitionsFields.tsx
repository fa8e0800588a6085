import { Fieldset, HStack } from "@chakra-ui/react";

import { Tick, TextField } from "./fields";
import { CHOICES, type Partitions } from "./partitions";

/** Which partitions: a selection's text, and states. */
export const PartitionsFields = ({
  partitions,
  onChange,
  mistake,
}: {
  readonly partitions: Partitions;
  readonly onChange: (partitions: Partitions) => void;
  readonly mistake?: string | undefined;
}) => {
  const { selection = "", states = [] } = partitions;
  return (
    <>
      <TextField
        label="Partitions"
        value={selection}
        onChange={(text) => onChange({ selection: text, states })}
        help="For example 2013-03-01..2013-03-10 & origin in JFK,LGA; all if empty"
        mistake={mistake}
      />
      <Fieldset.Root>
        <Fieldset.Legend fontSize="sm">Only those that are (any, if none is ticked)</Fieldset.Legend>
        <HStack wrap="wrap" gapX={4} gapY={1}>
          {CHOICES.map((state) => (
            <Tick
              key={state}
              label={state}
              checked={states.includes(state)}
              onChange={(checked) =>
                onChange({
                  selection,
                  states: checked ? [...states, state] : states.filter((each) => each !== state),
                })
              }
            />
          ))}
        </HStack>
      </Fieldset.Root>
    </>
  );
};
