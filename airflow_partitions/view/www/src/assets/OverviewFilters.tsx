import { Button, Flex, Input, SegmentGroup, Text } from "@chakra-ui/react";

import { counted, number } from "../page/amounts";
import { StateMark } from "../states/StateMark";
import { states, type State } from "../states/state";
import { Chooser } from "./Chooser";
import { orders, toggled, type Filters, type Order } from "./filters";
import type { Listed } from "./list";

const labels: Readonly<Record<Order, string>> = { trouble: "Trouble first", graph: "Asset graph", name: "Name" };

/** Of how many assets partitions are in a state; chooses these. */
const StateChips = ({ assets, filters, onChange }: Content) => {
  const numbers = states
    .map((state): readonly [State, number] => [state, assets.filter(({ counts }) => (counts[state] ?? 0) > 0).length])
    .filter(([state, count]) => count > 0 || filters.states.includes(state));
  if (assets.some(({ counting }) => counting)) {
    return (
      <Text role="status" fontSize="sm" color="fg.muted" minH={8}>
        Still counting the partitions of {counted(assets.length, "asset")}…
      </Text>
    );
  }
  return (
    <Flex gap={1} wrap="wrap" align="center" minH={8} role="group" aria-label="Assets with partitions in a state">
      <Text fontSize="xs" color="fg.muted" me={1}>
        Assets with
      </Text>
      {numbers.map(([state, count]) => (
        <Button
          key={state}
          size="xs"
          variant={filters.states.includes(state) ? "solid" : "outline"}
          aria-pressed={filters.states.includes(state)}
          title={`${number(count)} of ${number(assets.length)} assets have ${state} partitions`}
          onClick={() => onChange({ states: toggled(filters.states, state) })}
        >
          <StateMark state={state} size="12px" label={null} /> {number(count)} {state}
        </Button>
      ))}
    </Flex>
  );
};

type Content = {
  readonly assets: readonly Listed[];
  readonly filters: Filters;
  readonly onChange: (change: Partial<Filters>) => void;
};

/** Chooses which assets are shown, and in which order. */
export const OverviewFilters = ({ assets, filters, onChange }: Content) => (
  <Flex direction="column" gap={2} mb={2}>
    <Flex gap={2} wrap="wrap" align="center">
      <Input
        type="search"
        size="sm"
        flex="1 1 14rem"
        maxW="28rem"
        placeholder="Search assets"
        aria-label="Search assets"
        value={filters.search}
        onChange={({ currentTarget }) => onChange({ search: currentTarget.value })}
      />
      <Chooser
        label="Tag"
        values={assets.flatMap(({ tags }) => tags)}
        chosen={filters.tags}
        onChange={(tags) => onChange({ tags })}
      />
      <Chooser
        label="Owner"
        values={assets.flatMap(({ owners }) => owners)}
        chosen={filters.owners}
        onChange={(owners) => onChange({ owners })}
      />
      <SegmentGroup.Root
        size="sm"
        ms="auto"
        aria-label="Order"
        value={filters.by}
        onValueChange={({ value }) => onChange({ by: orders.find((order) => order === value) ?? "trouble" })}
      >
        <SegmentGroup.Indicator />
        {orders.map((order) => (
          <SegmentGroup.Item key={order} value={order}>
            <SegmentGroup.ItemText>{labels[order]}</SegmentGroup.ItemText>
            <SegmentGroup.ItemHiddenInput />
          </SegmentGroup.Item>
        ))}
      </SegmentGroup.Root>
    </Flex>
    <StateChips assets={assets} filters={filters} onChange={onChange} />
  </Flex>
);
