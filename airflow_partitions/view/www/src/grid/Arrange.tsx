import { Box, HStack, Input, NativeSelect } from "@chakra-ui/react";
import { useEffect, useState } from "react";

import type { Shown } from "../selection/usePicture";
import type { Dimensions } from "./dimensions";

/** Which dimension goes across and which down, and which rows. */
export const Arrange = ({
  dimensions,
  across,
  down,
  shown: { search, only, onArrange, onSearch },
}: {
  readonly dimensions: Dimensions;
  /** What goes across and down, "" for nothing; `null` as long as the server has not said it. */
  readonly across: string | null;
  readonly down: string | null;
  readonly shown: Shown;
}) => {
  const { names, time } = dimensions;
  if (across === null || down === null) return names.length > 1 ? <Box height={8} mb={4} /> : null;
  if (down === "" && names.length < 2) return null;
  /** Whether a dimension may go down beside that one. */
  const isFree = (beside: string) => (name: string) => name !== time && name !== beside;
  return (
    <HStack
      wrap={{ base: "nowrap", md: "wrap" }}
      gap={3}
      mb={4}
      minH={8}
      overflowX={{ base: "auto", md: "visible" }}
      css={{ "& > *": { flexShrink: 0 } }}
    >
      {names.length > 1 ? (
        <>
          <Pick
            label="Across"
            value={across}
            names={names}
            onPick={(name) => onArrange(name, name === down ? (names.find(isFree(name)) ?? "") : down)}
          />
          <Pick
            label="Down"
            value={down}
            names={names.filter(isFree(across))}
            none="all in one row"
            onPick={(name) => onArrange(across, name)}
          />
        </>
      ) : null}
      {down === "" ? null : <Search key={down} search={search} name={down} onSearch={onSearch} />}
      {names
        .filter((name) => name !== across && name !== down && name !== time)
        .map((name) => (
          <Only
            key={`${name} ${only[name] ?? ""}`}
            name={name}
            value={only[name] ?? ""}
            onOnly={(value) => onArrange(across, down, { [name]: value })}
          />
        ))}
    </HStack>
  );
};

const Pick = ({
  label,
  value,
  names,
  none,
  onPick,
}: {
  readonly label: string;
  readonly value: string;
  readonly names: readonly string[];
  readonly none?: string;
  readonly onPick: (name: string) => void;
}) => (
  <HStack as="label" gap={2} fontSize="sm" color="fg.muted">
    {label}
    <NativeSelect.Root size="xs" width="auto" color="fg">
      <NativeSelect.Field value={value} onChange={(event) => onPick(event.target.value)}>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
        {none === undefined ? null : <option value="">{none}</option>}
      </NativeSelect.Field>
      <NativeSelect.Indicator />
    </NativeSelect.Root>
  </HStack>
);

/** Narrows the picture to one value of a dimension that it does not show. */
const Only = ({
  name,
  value,
  onOnly,
}: {
  readonly name: string;
  readonly value: string;
  readonly onOnly: (value: string) => void;
}) => {
  const [text, setText] = useState(value);
  const take = () => {
    if (text !== value) onOnly(text);
  };
  return (
    <Input
      size="xs"
      width="160px"
      dir="auto"
      aria-label={`Only one ${name}`}
      placeholder={`any ${name}`}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key === "Enter") take();
      }}
    />
  );
};

/** Takes what is typed after a pause. */
const Search = ({
  search,
  name,
  onSearch,
}: {
  readonly search: string;
  readonly name: string;
  readonly onSearch: (text: string) => void;
}) => {
  const [text, setText] = useState(search);
  useEffect(() => {
    if (text === search) return undefined;
    const timer = setTimeout(() => onSearch(text), 300);
    return () => clearTimeout(timer);
  });
  return (
    <Input
      size="xs"
      type="search"
      width="200px"
      dir="auto"
      aria-label={`Search ${name}`}
      placeholder={`Search ${name}`}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
};
