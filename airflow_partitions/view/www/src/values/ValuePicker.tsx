import { NativeSelect } from "@chakra-ui/react";

import { isValue, VALUES, type Value } from "./value";

/** By what the cells are coloured: their states, or a value. */
export const ValuePicker = ({
  value,
  onValue,
}: {
  readonly value: Value | null;
  readonly onValue: (value: Value | null) => void;
}) => (
  <NativeSelect.Root size="xs" width="auto">
    <NativeSelect.Field
      aria-label="Colour by"
      value={value ?? ""}
      onChange={({ target }) => onValue(isValue(target.value) ? target.value : null)}
    >
      <option value="">Colour by state</option>
      {Object.entries(VALUES).map(([name, title]) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </NativeSelect.Field>
    <NativeSelect.Indicator />
  </NativeSelect.Root>
);
