import { Button, Flex, HStack } from "@chakra-ui/react";

import { RunPartitionButton } from "../actions/RunPartition";
import { DAY } from "../calendar/days";
import { extentOf } from "../grid/extent";
import { useWhole, type Arrangement } from "../grid/useGrid";
import { lengthOf } from "../grid/view";
import { FormPicker } from "../selection/FormPicker";
import type { Shown } from "../selection/usePicture";
import { StateChips } from "../states/StateChips";
import { ValuePicker } from "../values/ValuePicker";

/** Above the partitions: how many are in which state, a way to run one, and how they are shown. */
export const AssetHead = ({
  arrangement,
  shown: { states, onStates, value, onValue, form, onForm },
  several,
  mayChange,
  onPaste,
}: {
  readonly arrangement: Arrangement;
  readonly shown: Shown;
  /** Whether a Dag that makes them has more than one task. */
  readonly several: boolean;
  readonly mayChange: boolean;
  /** Somebody wants to paste a list of keys. */
  readonly onPaste: () => void;
}) => {
  const whole = useWhole(arrangement).data?.pages[0];
  const extent = extentOf(whole);
  // Days have 23 to 25 hours; a calendar says nothing of what is longer.
  const daily = extent !== null && lengthOf(extent) / Math.max(1, extent.count) < 1.1 * DAY;
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
        {form === null || form === "calendar" ? <ValuePicker value={value} onValue={onValue} /> : null}
        <FormPicker form={form} daily={daily} several={several} onForm={onForm} />
      </HStack>
    </Flex>
  );
};
