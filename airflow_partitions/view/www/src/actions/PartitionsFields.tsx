import { Fieldset, HStack } from "@chakra-ui/react";

import { useAsset } from "../assets/useAsset";
import { Tick, TextField } from "./fields";
import { CHOICES, type Partitions } from "./partitions";

/** Which partitions: a selection's text, and states. */
export const PartitionsFields = ({
  asset,
  partitions,
  onChange,
  mistake,
}: {
  readonly asset: string;
  readonly partitions: Partitions;
  readonly onChange: (partitions: Partitions) => void;
  readonly mistake?: string | undefined;
}) => {
  const example = useAsset(asset).data?.example ?? null;
  const { selection = "", states = [] } = partitions;
  return (
    <>
      <TextField
        label="Partitions"
        value={selection}
        onChange={(text) => onChange({ selection: text, states })}
        help={example === null ? "All if empty" : `For example ${example}; all if empty`}
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
