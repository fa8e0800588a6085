import { Button, Flex, HStack } from "@chakra-ui/react";

import { RunPartitionButton } from "../actions/RunPartition";
import { useWhole, type Arrangement } from "../grid/useGrid";
import type { Shown } from "../selection/usePicture";
import { StateChips } from "../states/StateChips";
import { ValuePicker } from "../values/ValuePicker";

/** Above the partitions: how many are in which state, a way to run one, and how they are shown. */
export const AssetHead = ({
  arrangement,
  shown: { states, onStates, value, onValue, table, onTable },
  mayChange,
  onPaste,
}: {
  readonly arrangement: Arrangement;
  readonly shown: Shown;
  readonly mayChange: boolean;
  /** Somebody wants to paste a list of keys. */
  readonly onPaste: () => void;
}) => {
  const whole = useWhole(arrangement).data?.pages[0];
  return (
    <Flex wrap="wrap" gap={3} justify="space-between" minH={8}>
      <StateChips
        counts={whole?.counts ?? {}}
        provisional={whole?.provisional ?? 0}
        chosen={states}
        onChosen={onStates}
      />
      <HStack wrap="wrap">
        {mayChange ? (
          <>
            <RunPartitionButton asset={arrangement.asset} />
            <Button size="xs" variant="outline" onClick={onPaste}>
              Paste keys…
            </Button>
          </>
        ) : null}
        {table ? null : <ValuePicker value={value} onValue={onValue} />}
        <Button size="xs" variant="outline" aria-pressed={table} onClick={() => onTable(!table)}>
          {table ? "Show as picture" : "Show as table"}
        </Button>
      </HStack>
    </Flex>
  );
};
