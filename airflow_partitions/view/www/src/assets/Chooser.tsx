import { Button, HStack, NativeSelect } from "@chakra-ui/react";

import { toggled } from "./filters";

type Choice = {
  readonly label: string;
  /** Those that there are, in any order, and more than once. */
  readonly values: readonly string[];
  readonly chosen: readonly string[];
  /** Whether its values are still on their way: it holds its place. */
  readonly coming?: boolean;
  readonly onChange: (chosen: readonly string[]) => void;
};

/** Values to add one by one; what was chosen stands beside, to be taken away. */
export const Chooser = ({ label, values, chosen, coming = false, onChange }: Choice) => {
  const others = [...new Set(values)].filter((value) => !chosen.includes(value)).sort();
  if (values.length === 0 && chosen.length === 0 && !coming) return null;
  return (
    <HStack gap={1} wrap="wrap">
      <NativeSelect.Root size="sm" width="8rem" disabled={others.length === 0}>
        <NativeSelect.Field
          aria-label={`Filter by ${label}`}
          value=""
          onChange={({ currentTarget }) => onChange([...chosen, currentTarget.value])}
        >
          <option value="">{label}</option>
          {others.map((value) => (
            <option key={value} value={value}>
              {value}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
      {chosen.map((value) => (
        <Button
          key={value}
          size="xs"
          variant="subtle"
          aria-label={`No longer filter by ${label} ${value}`}
          onClick={() => onChange(toggled(chosen, value))}
        >
          {value} ✕
        </Button>
      ))}
    </HStack>
  );
};
