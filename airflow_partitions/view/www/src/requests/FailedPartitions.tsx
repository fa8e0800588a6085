import { Box, Heading, List, Text } from "@chakra-ui/react";

import { useAsset } from "../assets/useAsset";
import { Trouble } from "../page/Trouble";
import { useTrouble } from "../page/useTrouble";
import { rest } from "../rest/client";
import { StateMark } from "../states/StateMark";
import { FailedStretch, type Selected } from "./FailedStretch";
import { pace } from "./request";

/** Of so many partitions, the newest, it is told what made them fail. */
const CAUSES = 10;

/** The partitions that are failed now, with links; of the newest with what made them fail. */
export const FailedPartitions = ({
  of,
  atWork,
}: {
  readonly of: Selected;
  /** Whether others may come soon. */
  readonly atWork: boolean;
}) => {
  const { data: about } = useAsset(of.asset);
  const stretches = rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/states",
    {
      params: {
        path: { asset: of.asset },
        query: { select: of.selection, states: ["failed"], limit: 100 },
      },
    },
    { refetchInterval: pace(atWork) },
  );
  const trouble = useTrouble(stretches);
  const listed = stretches.data?.stretches ?? [];
  if (trouble !== null && stretches.data === undefined) return <Trouble error={trouble} />;
  if (listed.length === 0) return null;
  // Keys that are known at runtime are listed in the order in which they came.
  const inOrder = about !== undefined && about.definition.kind !== "runtime";
  const before = (place: number) => listed.slice(0, place).reduce((total, { count }) => total + count, 0);
  return (
    <section aria-labelledby="failed">
      <Heading as="h2" size="sm" id="failed" mb={2}>
        Failed partitions
      </Heading>
      <List.Root variant="plain" gap={1} fontSize="sm">
        {listed.map((stretch, place) => (
          <List.Item key={`${stretch.first} ${stretch.last}`} display="flex" gap={2} overflowWrap="anywhere">
            <Box pt={0.5} flexShrink={0}>
              <StateMark state="failed" />
            </Box>
            <FailedStretch of={of} stretch={stretch} inOrder={inOrder} causes={Math.max(0, CAUSES - before(place))} />
          </List.Item>
        ))}
      </List.Root>
      {stretches.data?.cursor == null ? null : <Text color="fg.muted">And more.</Text>}
    </section>
  );
};
