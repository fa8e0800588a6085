import { Badge, Box, Flex, Grid, HStack, Link, Text } from "@chakra-ui/react";
import { memo } from "react";
import { Link as RouterLink } from "react-router-dom";

import { number } from "../page/amounts";
import { paths } from "../page/paths";
import { StateBar } from "../states/StateBar";
import { StateMark } from "../states/StateMark";
import { statesOf } from "../states/state";
import { Due } from "./Due";
import { causes, kindWords } from "./words";
import { share } from "./health";
import { Lanes } from "./Lanes";
import type { Placed } from "./lineage";
import type { Listed } from "./list";

/** Widths of the columns: name, health, newest, next, and who it belongs to. */
export const columns = {
  base: "1fr 1fr",
  md: "minmax(13rem, 2fr) minmax(11rem, 1.6fr) minmax(8rem, 1fr) minmax(8rem, 1fr)",
  lg: "minmax(15rem, 2.2fr) minmax(12rem, 1.6fr) minmax(9rem, 1fr) minmax(9rem, 1fr) minmax(9rem, 1.2fr)",
};

/** Where one partition is looked at; of several segments, those of the interval. */
const partitionPath = ({ name, definition }: Listed, key: string): string =>
  definition.kind === "product" ? `${paths.asset(name)}?select=${encodeURIComponent(key)}` : paths.partition(name, key);

const Name = ({ asset }: { readonly asset: Listed }) => (
  <Box minW={0} py={2}>
    <HStack gap={2} wrap="wrap">
      <Link asChild display="inline" minW={0} color="fg.info" fontWeight="bold" overflowWrap="anywhere">
        <RouterLink to={paths.asset(asset.name)}>
          <bdi>{asset.name}</bdi>
        </RouterLink>
      </Link>
      {asset.absent.map((dag) => (
        <Badge key={dag.dag_id} colorPalette="red" title={dag.text}>
          {causes[dag.cause]}
        </Badge>
      ))}
      {asset.paused.length > 0 && (
        <Badge colorPalette="orange" title={`Paused: ${asset.paused.join(", ")}; no runs begin`}>
          paused
        </Badge>
      )}
      {Object.entries(asset.holds).map(([dag, [request]]) => (
        <Link key={dag} asChild>
          <RouterLink to={paths.request(request ?? 0)}>
            <Badge
              colorPalette="orange"
              title={`${dag} was paused: until request ${request} has ended, it works for that alone`}
            >
              held
            </Badge>
          </RouterLink>
        </Link>
      ))}
    </HStack>
    <Text fontSize="xs" color="fg.muted" overflowWrap="anywhere">
      {kindWords(asset.definition)}
    </Text>
    {asset.absent.map((dag) => (
      <Text key={dag.dag_id} fontSize="xs" color="fg.error" overflowWrap="anywhere" lineClamp={2} title={dag.text}>
        {dag.text}
      </Text>
    ))}
  </Box>
);

const Health = ({ asset }: { readonly asset: Listed }) => {
  if (asset.error != null) {
    return (
      <Text fontSize="xs" color="fg.error" overflowWrap="anywhere" lineClamp={3} title={asset.error}>
        Its partitions can’t be counted: {asset.error}
      </Text>
    );
  }
  if (asset.counting) {
    return (
      <Text fontSize="xs" color="fg.muted">
        counting…
      </Text>
    );
  }
  const others = statesOf(asset.counts).filter((state) => state !== "materialized" && state !== "skipped");
  return (
    <Box minW={0} py={2}>
      <StateBar counts={asset.counts} />
      <Flex columnGap={3} wrap="wrap" fontSize="xs" color="fg.muted" mt={1}>
        <Text as="span">{share(asset)}</Text>
        {others.map((state) => (
          <Link key={state} asChild color="fg" fontSize="xs">
            <RouterLink to={`${paths.asset(asset.name)}?states=${state}`}>
              <StateMark state={state} size="12px" label={null} /> {number(asset.counts[state] ?? 0)} {state}
            </RouterLink>
          </Link>
        ))}
      </Flex>
    </Box>
  );
};

const Newest = ({ asset }: { readonly asset: Listed }) =>
  asset.newest && (
    <Link asChild display="flex" width="fit-content" maxW="full" color="fg.info" fontSize="sm">
      <RouterLink to={partitionPath(asset, asset.newest.key)} title={`Newest: ${asset.newest.state}`}>
        <StateMark state={asset.newest.state} size="14px" />
        <Text as="span" truncate>
          {asset.newest.key}
        </Text>
      </RouterLink>
    </Link>
  );

const Next = ({ asset }: { readonly asset: Listed }) =>
  asset.next && (
    <Box minW={0}>
      <Link asChild color="fg.info" fontSize="sm" display="block" truncate>
        <RouterLink to={partitionPath(asset, asset.next.key)}>{asset.next.key}</RouterLink>
      </Link>
      <Due at={asset.next.due} />
    </Box>
  );

const Belongs = ({ asset }: { readonly asset: Listed }) => (
  <Flex gap={1} wrap="wrap" align="center" minW={0} py={1}>
    {asset.tags.map((tag) => (
      <Badge key={tag} variant="surface" maxW="full">
        <Text as="span" truncate>
          {tag}
        </Text>
      </Badge>
    ))}
    <Text fontSize="xs" color="fg.muted" truncate>
      {asset.owners.join(", ")}
    </Text>
  </Flex>
);

/** The name of a column where there is no room for a head. */
const Narrow = ({ label }: { readonly label: string }) => (
  <Text hideFrom="md" fontSize="xs" color="fg.muted">
    {label}
  </Text>
);

type Row = { readonly placed: Placed; readonly graph: boolean };

/** An asset of the overview: how it is, its newest and its next partition. */
export const AssetRow = memo(({ placed: { asset, ...lanes }, graph }: Row) => (
  <Grid
    role="row"
    templateColumns={columns}
    columnGap={4}
    rowGap={{ base: 1, md: 0 }}
    px={2}
    minH={14}
    alignItems="center"
    borderBottomWidth={1}
    bg={asset.absent.length > 0 ? "bg.muted" : undefined}
    _hover={{ bg: "bg.subtle" }}
  >
    <Flex role="cell" gap={1} align="center" minW={0} alignSelf="stretch" gridColumn={{ base: "1 / -1", md: "auto" }}>
      {graph && <Lanes {...lanes} />}
      <Name asset={asset} />
    </Flex>
    <Box role="cell" minW={0} gridColumn={{ base: "1 / -1", md: "auto" }}>
      <Health asset={asset} />
    </Box>
    <Box role="cell" minW={0} pb={{ base: 2, md: 0 }}>
      {asset.newest && <Narrow label="Newest" />}
      <Newest asset={asset} />
    </Box>
    <Box role="cell" minW={0} pb={{ base: 2, md: 0 }}>
      {asset.next && <Narrow label="Next" />}
      <Next asset={asset} />
    </Box>
    <Box role="cell" minW={0} hideBelow="lg">
      <Belongs asset={asset} />
    </Box>
  </Grid>
));
AssetRow.displayName = "AssetRow";
