import { Box, Button, Code, Field, Flex, HStack, Input, Text } from "@chakra-ui/react";
import { useState, type ClipboardEvent, type ReactNode } from "react";

import { keyList, LONGEST } from "../actions/keyList";
import { counted } from "../page/amounts";
import { Problem } from "../rest/problem";
import { countsText, totalOf, type Counts, type State } from "../states/state";
import { StateBar } from "../states/StateBar";
import { written } from "./text";
import { useCounts } from "./useCounts";

/** Those of the counts that are of some states; all where none is named. */
const among = (counts: Counts, states: readonly State[]): Counts =>
  states.length === 0 ? counts : Object.fromEntries(states.map((state) => [state, counts[state] ?? 0]));

/** What is selected: as text, as numbers, and what can be done with it. */
export const SelectionBar = ({
  asset,
  select,
  states,
  inView,
  example,
  timed,
  onSelect,
  onLong,
  children,
}: {
  readonly asset: string;
  readonly select: string;
  readonly states: readonly State[];
  /** The text that selects what is in view. */
  readonly inView: string;
  /** A text that selects some of them; `null` if there is none. */
  readonly example: string | null;
  /** Whether partitions have a time. */
  readonly timed: boolean;
  readonly onSelect: (text: string) => void;
  /** A list of keys was pasted that is too long for an address. */
  readonly onLong: ((list: string) => void) | undefined;
  /** What can be done with it. */
  readonly children: ReactNode;
}) => {
  const counts = useCounts(asset, select);
  const selected = among(counts.data?.counts ?? {}, states);
  const total = totalOf(selected);
  const refusal = select !== "" && counts.error instanceof Problem ? counts.error.message : null;
  return (
    <Box
      borderWidth="1px"
      borderRadius="md"
      p={3}
      bg="bg.subtle"
      as="section"
      aria-label="Selection"
      position={{ base: "static", md: select === "" ? "static" : "sticky" }}
      bottom={0}
      zIndex={1}
    >
      <Flex gap={3} wrap="wrap" align="start">
        <TextField key={select} select={select} refusal={refusal} onSelect={onSelect} onLong={onLong} />
        <HStack gap={2}>
          <Button size="sm" variant="outline" disabled={inView === ""} onClick={() => onSelect(inView)}>
            Select {states.length === 0 ? "all" : states.join(" and ")} in view
          </Button>
          <Button size="sm" variant="ghost" disabled={select === ""} onClick={() => onSelect("")}>
            Clear
          </Button>
        </HStack>
      </Flex>
      {select === "" || refusal !== null ? (
        <Text fontSize="sm" color="fg.muted" mt={2}>
          Drag over cells, or hold Shift or Control and click; type their text or paste their keys
          {example === null ? (
            ", with commas between."
          ) : (
            <>
              , for example <Code>{example}</Code>
              {timed && example.includes("..") ? ": from the first up to, not including, the last." : "."}
            </>
          )}
        </Text>
      ) : (
        <Flex mt={3} gap={3} wrap="wrap" align="center" justify="space-between">
          <Box minWidth={0} flex="1 1 260px">
            <Text fontSize="sm" role="status" mb={1}>
              <Text as="span" fontWeight="semibold">
                {counts.data === undefined ? "Counting…" : `${counted(total, "partition")} selected`}
              </Text>
              {total > 0 ? `: ${countsText(selected)}` : ""}
            </Text>
            <StateBar counts={selected} height="6px" />
          </Box>
          {children}
        </Flex>
      )}
    </Box>
  );
};

/** The text of a selection, which is taken with Enter or when one goes elsewhere. */
const TextField = ({
  select,
  refusal,
  onSelect,
  onLong,
}: {
  readonly select: string;
  readonly refusal: string | null;
  readonly onSelect: (text: string) => void;
  readonly onLong: ((list: string) => void) | undefined;
}) => {
  const [text, setText] = useState(select);
  const paste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData("text");
    const list = keyList(pasted);
    if (list === null) return;
    const selected = list.keys.map(written).join(", ");
    if (selected.length > LONGEST && onLong === undefined) return;
    event.preventDefault();
    if (selected.length > LONGEST) onLong?.(pasted);
    else onSelect(selected);
  };
  return (
    <Field.Root invalid={refusal !== null} flex="1 1 280px" width="auto">
      <Input
        size="sm"
        aria-label="Selected partitions, as text"
        fontFamily="mono"
        dir="auto"
        bg="bg"
        value={text}
        placeholder="No partition is selected"
        spellCheck={false}
        onPaste={paste}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => onSelect(text.trim())}
        onKeyDown={(event) => {
          if (event.key === "Enter") onSelect(text.trim());
          if (event.key === "Escape") setText(select);
        }}
      />
      <Field.ErrorText>{refusal}</Field.ErrorText>
    </Field.Root>
  );
};
