import { Box, SimpleGrid, Stack } from "@chakra-ui/react";

import { useWhole, type Arrangement } from "../grid/useGrid";
import { useFailed } from "../requests/failed";
import { FailedPartitions } from "../requests/FailedPartitions";
import type { components } from "../rest/schema";
import { AssetAbout } from "./AssetAbout";
import { NewestWork } from "./NewestWork";

/** Below the partitions: what its Dags say of the asset, what of it failed and why, and what was materialized last. */
export const AssetFoot = ({
  asset,
  arrangement,
}: {
  readonly asset: components["schemas"]["AssetDetails"];
  readonly arrangement: Arrangement;
}) => {
  const { name, definition } = asset;
  const whole = useWhole(arrangement);
  const counts = whole.data?.pages[0]?.counts;
  const count = counts === undefined ? undefined : (counts.failed ?? 0);
  const of = {
    asset: name,
    selection: arrangement.select === undefined || arrangement.select === "" ? null : arrangement.select,
  };
  // Keys that are known at runtime are listed in the order in which they came.
  const failed = useFailed(of, count, { inOrder: definition.kind !== "runtime", atWork: false });
  const isKnown = count === 0 || failed.data !== undefined || (failed.failureReason ?? whole.failureReason) !== null;
  return (
    <SimpleGrid columns={{ base: 1, lg: 2 }} gap={6} pt={2}>
      <Stack gap={6} minW={0}>
        <AssetAbout asset={asset} />
        {count === 0 ? null : <FailedPartitions of={of} failed={failed} />}
      </Stack>
      {/* On a narrow screen it is below the failed partitions, and waits for them: nothing moves. */}
      <Box display={{ base: isKnown ? "block" : "none", lg: "block" }} minW={0}>
        <NewestWork asset={name} />
      </Box>
    </SimpleGrid>
  );
};
