import { parseDate } from "@internationalized/date";
import { Box, Button, HStack, Skeleton, Stack, Text } from "@chakra-ui/react";
import { keepPreviousData, useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, useState } from "react";

import { rest } from "../rest/client";
import type { components } from "../rest/schema";
import { TextField } from "./fields";
import { Refusal } from "../page/Refusal";
import { tell } from "../page/toasts";
import { useSettled } from "../page/useSettled";

type Key = components["schemas"]["Key"];
type Dimension = components["schemas"]["Dimension"];

/** How many keys are listed; the others are found by search, or by day. */
const LISTED = 50;

const Option = ({
  label,
  selected,
  reached,
  onSelect,
  children,
}: {
  readonly label: string;
  readonly selected: boolean;
  /** Whether the tab key stops at it: at one of the list; arrows lead to the others. */
  readonly reached: boolean;
  readonly onSelect: () => void;
  readonly children?: ReactNode;
}) => (
  <Box
    asChild
    display="block"
    width="full"
    textAlign="start"
    px={3}
    py={1.5}
    overflowWrap="anywhere"
    cursor="pointer"
    bg={selected ? "brand.subtle" : undefined}
    fontWeight={selected ? "semibold" : undefined}
    _hover={{ bg: selected ? "brand.subtle" : "bg.muted" }}
    _focusVisible={{ outline: "2px solid", outlineOffset: "-2px" }}
  >
    <button type="button" role="option" aria-selected={selected} tabIndex={reached ? 0 : -1} onClick={onSelect}>
      <bdi>{label}</bdi>
      {children}
    </button>
  </Box>
);

/** The end of a day, as a selection says it: what began before the next one. */
const untilDay = (day: string): string => `..${parseDate(day).add({ days: 1 }).toString()}`;

/** The time of day and offset at both ends of an interval, for what is shorter than a day. */
const bounds = ({ start, end }: Pick<Key, "start" | "end">): string =>
  start == null || end == null
    ? ""
    : `${start.slice(0, 16).replace("T", " ")} to ${end.slice(0, 16).replace("T", " ")}`;

/** Arrows move between the keys of a list, Home and End to its ends. */
const moveFocus = (event: KeyboardEvent<HTMLElement>) => {
  const options = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=option]")];
  const at = options.findIndex((option) => option === document.activeElement);
  const aims: Partial<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: Math.max(0, at - 1),
    Home: 0,
    End: options.length - 1,
  };
  const aim = aims[event.key];
  if (aim === undefined) return;
  event.preventDefault();
  options[Math.min(aim, options.length - 1)]?.focus();
};

const useKeys = (asset: string, dimension: Dimension, search: string, day: string) =>
  rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/keys",
    {
      params: {
        path: { asset },
        query: {
          dimension: dimension.name,
          limit: LISTED,
          search: search || null,
          select: day === "" ? null : untilDay(day),
        },
      },
    },
    { placeholderData: keepPreviousData },
  );

const AddKey = ({ asset, onAdded }: { readonly asset: string; readonly onAdded: (key: string) => void }) => {
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const of = { params: { path: { asset } } };
  const add = rest.useMutation("post", "/api/v1/assets/{asset}/keys/add", {
    onSuccess: async () => {
      tell(`Added the key ${text}`);
      await queries.invalidateQueries({
        queryKey: rest.queryOptions("get", "/api/v1/assets/{asset}/keys", of).queryKey,
      });
      onAdded(text);
    },
  });
  return (
    <Stack gap={2}>
      <HStack align="start">
        <TextField
          label="Add a key"
          help="What is downstream runs for it, as when a task adds it"
          value={text}
          onChange={(value) => {
            add.reset();
            setText(value);
          }}
        />
        <Button
          size="sm"
          variant="outline"
          mt={6}
          disabled={text.trim() === ""}
          loading={add.isPending}
          onClick={() => add.mutate({ ...of, body: { keys: [text], reason: "", once: true, dry_run: false } })}
        >
          Add
        </Button>
      </HStack>
      {add.error ? <Refusal error={add.error} /> : null}
    </Stack>
  );
};

/** One dimension's valid keys: intervals by day, others by search. */
const DimensionPicker = ({
  asset,
  dimension,
  value,
  onChange,
  timezone,
}: {
  readonly asset: string;
  readonly dimension: Dimension;
  readonly value: string | undefined;
  readonly onChange: (key: string) => void;
  readonly timezone: string | null;
}) => {
  const [search, setSearch] = useState("");
  const [day, setDay] = useState("");
  const keys = useKeys(asset, dimension, useSettled(search), useSettled(day));
  const isTime = dimension.kind === "interval";
  const listed = keys.data?.keys ?? [];
  return (
    <Box as="section" aria-label={dimension.name} flex={1} minW={60}>
      <Stack gap={2}>
        <HStack align="start">
          {isTime ? (
            <TextField
              label={`${dimension.name}: up to the day`}
              type="date"
              value={day}
              onChange={setDay}
              help={timezone === null ? undefined : `In ${timezone}`}
            />
          ) : null}
          <TextField label={`Search ${dimension.name}`} type="search" value={search} onChange={setSearch} />
        </HStack>
        <Box
          role="listbox"
          aria-label={`Keys of ${dimension.name}`}
          borderWidth={1}
          borderRadius="md"
          maxH={52}
          overflowY="auto"
          onKeyDown={moveFocus}
        >
          {listed.map((key, index) => (
            <Option
              key={key.key}
              label={key.key}
              selected={key.key === value}
              reached={key.key === value || (index === 0 && !listed.some((other) => other.key === value))}
              onSelect={() => onChange(key.key)}
            >
              {isTime ? (
                <Text as="span" display="block" fontSize="xs" color="fg.muted">
                  {bounds(key)}
                </Text>
              ) : null}
            </Option>
          ))}
          {keys.isPending ? <Skeleton height={16} /> : null}
          {keys.data !== undefined && listed.length === 0 ? (
            <Text p={3} color="fg.muted">
              {search === "" && day === "" ? "There is no key yet." : "No key has that."}
            </Text>
          ) : null}
        </Box>
        {keys.data?.cursor == null ? null : (
          <Text fontSize="xs" color="fg.muted">
            The first {LISTED}; {isTime ? "choose a day or search for others" : "search for others"}
          </Text>
        )}
        {keys.error ? <Refusal error={keys.error} /> : null}
        {dimension.kind === "runtime" ? <AddKey asset={asset} onAdded={onChange} /> : null}
      </Stack>
    </Box>
  );
};

/** Picks one valid key of an asset, dimension by dimension; there is no text to get wrong. */
export const KeyPicker = ({
  asset,
  dimensions,
  timezone,
  value,
  onChange,
}: {
  readonly asset: string;
  readonly dimensions: readonly Dimension[];
  readonly timezone: string | null;
  /** The key of each dimension, by name, as far as one is picked. */
  readonly value: Readonly<Record<string, string>>;
  readonly onChange: (value: Readonly<Record<string, string>>) => void;
}) => (
  <HStack align="start" gap={4} wrap="wrap">
    {dimensions.map((dimension) => (
      <DimensionPicker
        key={dimension.name}
        asset={asset}
        dimension={dimension}
        timezone={timezone}
        value={value[dimension.name]}
        onChange={(key) => onChange({ ...value, [dimension.name]: key })}
      />
    ))}
  </HStack>
);
