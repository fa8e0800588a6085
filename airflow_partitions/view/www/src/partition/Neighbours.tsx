import { Box, Button, Flex, Heading, Link, Stack, Text } from "@chakra-ui/react";
import { type ReactNode, useState } from "react";
import { Link as RouterLink } from "react-router-dom";

import { counted, number } from "../page/amounts";
import { paths } from "../page/paths";
import type { components } from "../rest/schema";
import { type Counts, countsText } from "../states/state";
import { StateBar } from "../states/StateBar";
import { StateMark } from "../states/StateMark";
import { StateName } from "../states/StateName";

type Partition = components["schemas"]["Partition"];
type Neighbour = components["schemas"]["Neighbour"];
type Stretch = components["schemas"]["Stretch"];

/** Stretches that are listed one by one; the others are told by their number. */
const LISTED = 5;
/** Assets that are shown at first. */
const ASSETS = 4;

/** Numbers of partitions by state in some stretches. */
export const countsOf = (stretches: readonly Stretch[]): Counts =>
  stretches.reduce<Counts>((counts, { state, count }) => ({ ...counts, [state]: (counts[state] ?? 0) + count }), {});

const Card = ({ children, own = false }: { readonly children: ReactNode; readonly own?: boolean }) => (
  <Box
    borderWidth={own ? 2 : 1}
    borderColor={own ? "brand.solid" : "border"}
    borderRadius="md"
    bg="bg"
    p={3}
    overflowWrap="anywhere"
  >
    {children}
  </Box>
);

const StretchLink = ({ asset, stretch: { state, first, last, count } }: { asset: string; stretch: Stretch }) => (
  <Flex gap={1.5} align="start" fontSize="sm">
    <Box pt={0.5} flexShrink={0}>
      <StateMark state={state} />
    </Box>
    <Link asChild color="fg.info" minW={0} display="inline" overflowWrap="anywhere" lineClamp={3}>
      <RouterLink to={paths.partition(asset, first)}>
        <bdi>{first}</bdi>
        {count > 1 ? (
          <>
            {" to "}
            <bdi>{last}</bdi>
            {` (${number(count)})`}
          </>
        ) : null}
      </RouterLink>
    </Link>
  </Flex>
);

const NeighbourCard = ({ neighbour: { asset, count, stretches, more } }: { readonly neighbour: Neighbour }) => {
  const counts = countsOf(stretches);
  return (
    <Card>
      <Link asChild fontWeight="semibold" display="inline">
        <RouterLink to={paths.asset(asset)}>
          <bdi>{asset}</bdi>
        </RouterLink>
      </Link>
      {count > 1 ? (
        <>
          <Text fontSize="sm" color="fg.muted" mb={1}>
            {counted(count, "partition")}: {countsText(counts)}
            {more ? ", and more" : ""}
          </Text>
          <StateBar counts={counts} />
        </>
      ) : null}
      <Stack gap={1} mt={1}>
        {stretches.slice(0, LISTED).map((stretch) => (
          <StretchLink key={`${stretch.first} ${stretch.last} ${stretch.state}`} asset={asset} stretch={stretch} />
        ))}
        {stretches.length > LISTED ? (
          <Text fontSize="xs" color="fg.muted">
            and {number(stretches.length - LISTED)} more stretches
          </Text>
        ) : null}
      </Stack>
    </Card>
  );
};

const Column = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <Stack as="section" aria-label={name} flex={1} gap={3} minW={0} width="full">
    <Text fontSize="sm" color="fg.muted">
      {name}
    </Text>
    {children}
  </Stack>
);

/** The way of the data: to the right, or down on a narrow screen. */
const Arrow = () => (
  <Flex
    justify="center"
    color="fg.subtle"
    aria-hidden
    pt={{ base: 2, md: 16 }}
    pb={2}
    transform={{ base: "rotate(90deg)", md: "none" }}
  >
    <svg width="32" height="16" viewBox="0 0 32 16" fill="none" stroke="currentColor" strokeWidth="2">
      <path d="M1 8H29M23 2l6 6-6 6" />
    </svg>
  </Flex>
);

const Others = ({
  neighbours,
  hidden,
  none,
}: {
  readonly neighbours: readonly Neighbour[];
  /** Whether there are others that one may not see. */
  readonly hidden: boolean;
  readonly none: string;
}) => {
  const [all, setAll] = useState(false);
  if (neighbours.length === 0) return <Text color="fg.muted">{hidden ? "Nothing that you may see" : none}</Text>;
  return (
    <>
      {neighbours.slice(0, all ? undefined : ASSETS).map((neighbour) => (
        <NeighbourCard key={`${neighbour.dag_id} ${neighbour.asset}`} neighbour={neighbour} />
      ))}
      {neighbours.length > ASSETS ? (
        <Button size="xs" variant="ghost" alignSelf="start" onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show all ${number(neighbours.length)} assets`}
        </Button>
      ) : null}
    </>
  );
};

/** What a partition needs, the partition, and what needs it: each with its states, each a link. */
export const Neighbours = ({ partition }: { readonly partition: Partition }) => (
  <section aria-labelledby="neighbours">
    <Heading as="h2" size="sm" id="neighbours" mb={2}>
      Upstream and downstream
    </Heading>
    <Flex direction={{ base: "column", md: "row" }} gap={3} align="stretch">
      <Column name="Needs">
        <Others
          neighbours={partition.upstream}
          hidden={partition.upstream_hidden}
          none="It needs no partition of another asset"
        />
      </Column>
      <Arrow />
      <Column name="This partition">
        <Card own>
          <Text fontWeight="semibold">
            <bdi>{partition.asset}</bdi>
          </Text>
          <Text fontSize="sm">
            <bdi>{partition.key}</bdi>
          </Text>
          <StateName state={partition.state} />
        </Card>
      </Column>
      <Arrow />
      <Column name="Needed by">
        <Others
          neighbours={partition.downstream}
          hidden={partition.downstream_hidden}
          none="No partition of another asset needs it"
        />
      </Column>
    </Flex>
  </section>
);
