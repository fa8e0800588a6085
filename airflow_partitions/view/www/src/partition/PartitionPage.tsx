import { Box, Button, HStack, List, Stack, Text } from "@chakra-ui/react";
import { Link } from "react-router-dom";

import { Actions } from "../actions/Actions";
import { useAsset } from "../assets/useAsset";
import { Answer } from "../page/Answer";
import { useNames } from "../page/names";
import { Page } from "../page/Page";
import { paths } from "../page/paths";
import { pace } from "../requests/request";
import { RequestProgress } from "../requests/RequestProgress";
import { rest } from "../rest/client";
import type { components } from "../rest/schema";
import { StateName } from "../states/StateName";
import { Bounds } from "./Bounds";
import { Charts } from "./Charts";
import { Events } from "./Events";
import { before } from "./neighbourhood";
import { Neighbours } from "./Neighbours";
import { RunsTable } from "./RunsTable";
import { sentence } from "./sentence";
import { UnprovenBadge } from "./UnprovenBadge";

type Partition = components["schemas"]["Partition"];

const AT_WORK = ["queued", "running"];

const usePartition = (asset: string, key: string) =>
  rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/partitions/{key}",
    { params: { path: { asset, key } } },
    { refetchInterval: ({ state }) => pace(AT_WORK.includes(state.data?.state ?? "")) },
  );

/** Why a partition is what it is: the sentence that tells the most in large letters. */
const Why = ({ reasons, provisional }: Pick<Partition, "reasons" | "provisional">) => (
  <Box as="section" aria-label="Why" overflowWrap="anywhere">
    {reasons.slice(0, 1).map((reason) => (
      <Text key={reason} fontSize="xl" fontWeight="medium">
        {sentence(reason)}
      </Text>
    ))}
    <List.Root ps={5} mt={1} color="fg.muted">
      {reasons.slice(1).map((reason) => (
        <List.Item key={reason}>{sentence(reason)}</List.Item>
      ))}
    </List.Root>
    {provisional ? <Text color="fg.warning">Provisional: it was made before its interval was over.</Text> : null}
  </Box>
);

const Step = ({ asset, to, children }: { asset: string; to: string | null; children: string }) =>
  to === null ? null : (
    <Button asChild size="xs" variant="ghost" maxW={64}>
      <Link to={paths.partition(asset, to)} title={to}>
        {children}
      </Link>
    </Button>
  );

/** The requests at work on a partition, where they can be cancelled. */
const Requests = ({ runs }: Pick<Partition, "runs">) => {
  const requests = runs.flatMap(({ state, backfill }) =>
    AT_WORK.includes(state) && backfill !== null ? [backfill] : [],
  );
  return [...new Set(requests)].map((request) => <RequestProgress key={request} request={request} />);
};

const Content = ({ partition }: { readonly partition: Partition }) => {
  const { asset, key, start, end } = partition;
  const { data: about } = useAsset(asset);
  return (
    <Stack gap={6}>
      <Why reasons={partition.reasons} provisional={partition.provisional} />
      <HStack justify="space-between" wrap="wrap" align="start">
        <Box minH={12}>
          {start === null || end === null ? null : (
            <Bounds start={start} end={end} timezone={about?.definition.timezone} />
          )}
        </Box>
        {/* On a narrow screen they have two lines of their own, also before it is known who may do what. */}
        <Box minH={{ base: 20, md: 9 }} width={{ base: "full", md: "auto" }}>
          <Actions asset={asset} selection={key} mayChange={about?.may_change} />
        </Box>
      </HStack>
      <Requests runs={partition.runs} />
      <RunsTable runs={partition.runs} />
      <Neighbours partition={partition} />
      <Events events={partition.events} />
      {/* They come last, so that nothing moves when they are there. */}
      {about === undefined ? null : (
        <Charts asset={asset} partition={key} select={before(about.definition, key, end)} />
      )}
    </Stack>
  );
};

/** All that is known of one partition, and what may be done with it. */
export const PartitionPage = () => {
  const { asset, key } = useNames();
  const query = usePartition(asset, key);
  const { data } = query;
  return (
    <Page
      title={key}
      crumbs={[
        { name: "Assets", to: paths.overview() },
        { name: asset, to: paths.asset(asset) },
      ]}
      beside={
        data === undefined ? null : (
          <HStack gap={2} wrap="wrap">
            <StateName state={data.state} />
            <UnprovenBadge unproven={data.events[0]?.unproven} />
          </HStack>
        )
      }
      actions={
        data === undefined ? null : (
          <HStack as="nav" aria-label="Other partitions">
            <Step asset={asset} to={data.previous}>
              ← Previous
            </Step>
            <Step asset={asset} to={data.next}>
              Next →
            </Step>
          </HStack>
        )
      }
    >
      <Answer query={query}>{(partition) => <Content key={key} partition={partition} />}</Answer>
    </Page>
  );
};
