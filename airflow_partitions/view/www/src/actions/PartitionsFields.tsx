import { Fieldset, HStack } from "@chakra-ui/react";
import { useMemo } from "react";

import { useAsset } from "../assets/useAsset";
import { counted } from "../page/amounts";
import { LinesField, Tick } from "./fields";
import { keyList } from "./keyList";
import { CHOICES, type Partitions } from "./partitions";

/** The most lines of a list that are seen at once. */
const LINES = 8;

/** Which partitions, as text: a selection, or a pasted list of keys. */
export const PartitionsField = ({
  value,
  onChange,
  help,
  mistake,
  rows = 1,
}: {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly help?: string | undefined;
  readonly mistake?: string | undefined;
  /** The fewest lines that are seen. */
  readonly rows?: number;
}) => {
  const listed = useMemo(() => keyList(value)?.keys.length ?? null, [value]);
  return (
    <LinesField
      label="Partitions"
      value={value}
      onChange={onChange}
      help={listed === null ? help : `${counted(listed, "key")}: each line is one`}
      mistake={mistake}
      rows={Math.max(rows, Math.min(LINES, value.split("\n", LINES).length))}
    />
  );
};

/** Which partitions: their text, and states. */
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
      <PartitionsField
        value={selection}
        onChange={(text) => onChange({ selection: text, states })}
        help={`${example === null ? "" : `For example ${example}; `}a list of keys, one a line; all if empty`}
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
