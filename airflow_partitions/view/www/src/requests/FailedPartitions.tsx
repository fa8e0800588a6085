import { Box, Heading, List, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";

import { useAsset } from "../assets/useAsset";
import { Trouble } from "../page/Trouble";
import { useTrouble } from "../page/useTrouble";
import { client } from "../rest/client";
import type { components } from "../rest/schema";
import { StateMark } from "../states/StateMark";
import { FailedStretch, type Selected } from "./FailedStretch";
import { pace } from "./request";

type Stretch = components["schemas"]["Stretch"];

/** Of so many partitions, the newest, it is told what made them fail. */
const CAUSES = 10;

/** So many stretches are listed, and so many pages looked at: a page without a failed partition is empty. */
const MOST = { stretches: 100, pages: 30 };

type Failed = { readonly stretches: readonly Stretch[]; readonly more: boolean };

const readFailed = async (of: Selected, count: number, signal: AbortSignal): Promise<Failed> => {
  const stretches: Stretch[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MOST.pages; page += 1) {
    const query: { limit: number; states: ["failed"]; select: string | null; cursor: string | null } = {
      limit: MOST.stretches,
      states: ["failed"],
      select: of.selection,
      cursor,
    };
    const { data } = await client.GET("/api/v1/assets/{asset}/states", {
      params: { path: { asset: of.asset }, query },
      signal,
    });
    stretches.push(...(data?.stretches ?? []));
    cursor = data?.cursor ?? null;
    const told = stretches.reduce((total, stretch) => total + stretch.count, 0);
    if (cursor === null || told >= count) return { stretches, more: false };
    if (stretches.length >= MOST.stretches) break;
  }
  return { stretches, more: true };
};

/** The partitions that are failed now, with links; of the newest with what made them fail. */
export const FailedPartitions = ({
  of,
  count,
  atWork,
}: {
  readonly of: Selected;
  /** How many there are, at most. */
  readonly count: number;
  /** Whether others may come soon. */
  readonly atWork: boolean;
}) => {
  const { data: about } = useAsset(of.asset);
  const stretches = useQuery({
    queryKey: ["failed", of.asset, of.selection, count],
    queryFn: ({ signal }) => readFailed(of, count, signal),
    refetchInterval: pace(atWork) * 3, // it may take several questions
  });
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
      {stretches.data?.more !== true ? null : <Text color="fg.muted">And more.</Text>}
    </section>
  );
};
