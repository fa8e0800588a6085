import { Box, Button, Flex, HStack, Stack, Text } from "@chakra-ui/react";
import { useMemo, useState } from "react";
import { useNavigate } from "react-router-dom";

import { Actions } from "../actions/Actions";
import { RunPartitionButton } from "../actions/RunPartition";
import { Answer } from "../page/Answer";
import { paths } from "../page/paths";
import { Arrange } from "../grid/Arrange";
import { expectedExtent } from "../grid/extent";
import { Grid } from "../grid/Grid";
import { keyOf } from "../grid/picture";
import { StretchTable } from "../grid/StretchTable";
import { useWhole, type Arrangement } from "../grid/useGrid";
import type { components } from "../rest/schema";
import { written } from "../selection/text";
import { SelectionBar } from "../selection/SelectionBar";
import { useCounts } from "../selection/useCounts";
import { usePicture } from "../selection/usePicture";
import { StateChips } from "../states/StateChips";
import { useAsset } from "./useAsset";
import { definitionWords } from "./words";

type Asset = components["schemas"]["Asset"];

/** The partitions of one asset. */
export const AssetView = ({ asset }: { readonly asset: string }) => {
  const about = useAsset(asset);
  return <Answer query={about}>{(data) => <Partitions asset={data} />}</Answer>;
};

const Partitions = ({ asset: { name: asset, definition, may_change: mayChange } }: { readonly asset: Asset }) => {
  const navigate = useNavigate();
  const picture = usePicture();
  const [inView, setInView] = useState("");
  const { select, states, search } = picture;
  const dimensions = useMemo(
    () => ({
      names: definition.dimensions.map(({ name }) => name),
      time: definition.dimensions.find(({ kind }) => kind === "interval")?.name ?? null,
      zone: definition.timezone,
      open: definition.kind === "runtime",
    }),
    [definition],
  );
  const expected = useMemo(() => expectedExtent(definition), [definition]);
  const { names, time } = dimensions;
  const across = picture.across ?? time ?? (names.length > 1 ? (names[1] ?? "") : "");
  const down = picture.down ?? names.find((name) => name !== time && name !== across) ?? "";
  const narrowed = JSON.stringify(
    Object.entries(picture.only).filter(([name]) => names.includes(name) && name !== across && name !== down),
  );
  const arrangement = useMemo<Arrangement>(() => {
    const only = JSON.parse(narrowed) as [string, string][];
    const narrowing = only.map(([name, value]) => `${name} in ${written(value)}`).join(" & ");
    return { asset, across, down, search, select: narrowing, only: Object.fromEntries(only) };
  }, [asset, across, down, search, narrowed]);
  const whole = useWhole(arrangement);
  const counts = whole.data?.pages[0]?.counts ?? {};
  const chosen = useMemo(() => new Set(states), [states]);
  const { data: selected } = useCounts(asset, select);
  return (
    <Stack gap={4}>
      <Text color="fg.muted" fontSize="sm" title={definition.text}>
        {definitionWords(definition)}
      </Text>
      <Flex wrap="wrap" gap={3} justify="space-between">
        <StateChips
          counts={counts}
          provisional={whole.data?.pages[0]?.provisional ?? 0}
          chosen={states}
          onChosen={picture.onStates}
        />
        <HStack>
          {mayChange ? <RunPartitionButton asset={asset} /> : null}
          <Button
            size="xs"
            variant="outline"
            aria-pressed={picture.table}
            onClick={() => picture.onTable(!picture.table)}
          >
            {picture.table ? "Show as picture" : "Show as table"}
          </Button>
        </HStack>
      </Flex>
      {picture.table || (down === "" && names.length < 2) ? null : (
        <Arrange
          dimensions={dimensions}
          across={across}
          down={down}
          search={search}
          onArrange={picture.onArrange}
          only={picture.only}
          onSearch={picture.onSearch}
          onOnly={picture.onOnly}
        />
      )}
      <Box>
        {picture.table ? (
          <StretchTable asset={asset} select={select} states={states} />
        ) : (
          <Grid
            arrangement={arrangement}
            dimensions={dimensions}
            expected={expected}
            states={chosen}
            select={select}
            canonical={selected && (selected.selection ?? select)}
            view={picture.view}
            onView={picture.setView}
            onSelect={picture.onSelect}
            onSeen={setInView}
            onOpen={(shown, cell, text) => {
              const key = keyOf(shown, cell, names, arrangement.only);
              if (key !== null) void navigate(paths.partition(asset, key));
              else if (cell.total > 0) picture.onList(text);
            }}
          />
        )}
      </Box>
      <SelectionBar
        asset={asset}
        select={select}
        states={states}
        inView={inView}
        timed={time !== null}
        onSelect={picture.onSelect}
      >
        <Actions asset={asset} selection={select} states={states} mayChange={mayChange} />
      </SelectionBar>
    </Stack>
  );
};
