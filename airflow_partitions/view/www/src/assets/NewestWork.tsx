import { Badge, Heading, HStack, Link, Stack, Text } from "@chakra-ui/react";
import { Link as RouterLink } from "react-router-dom";

import { paths } from "../page/paths";
import { Trouble } from "../page/Trouble";
import { useTrouble } from "../page/useTrouble";
import { WorkCharts } from "../partition/Charts";
import { type Materialization, useMaterializations } from "../partition/materializations";
import { UnprovenBadge } from "../partition/UnprovenBadge";
import { Moment } from "../requests/Moment";

/** The one that was materialized last. */
const newestOf = (materializations: readonly Materialization[]): Materialization | undefined =>
  materializations.reduce<Materialization | undefined>(
    (newest, one) => (newest === undefined || Date.parse(one.at) >= Date.parse(newest.at) ? one : newest),
    undefined,
  );

const Newest = ({ asset, newest }: { readonly asset: string; readonly newest: Materialization }) => (
  <>
    <HStack wrap="wrap" gap={2}>
      <Link asChild color="fg.info" fontWeight="medium" overflowWrap="anywhere" display="inline">
        <RouterLink to={paths.partition(asset, newest.key)}>
          <bdi>{newest.key}</bdi>
        </RouterLink>
      </Link>
      <Text color="fg.muted">
        <Moment at={newest.at} />
      </Text>
      {newest.dag_id === null || newest.run_id === null ? null : (
        <Link asChild color="fg.info">
          <RouterLink to={paths.run(newest.dag_id, newest.run_id)}>its run</RouterLink>
        </Link>
      )}
      <UnprovenBadge unproven={newest.unproven} />
    </HStack>
    {newest.checks.length === 0 ? null : (
      <HStack wrap="wrap" gap={2} role="group" aria-label="Checks">
        {newest.checks.map(({ name, passed }) => (
          <Badge key={name} colorPalette={passed ? "green" : "red"}>
            {passed ? "✓" : "✗"} {name}
          </Badge>
        ))}
      </HStack>
    )}
  </>
);

/** What was materialized last, with its checks, and the work on it beside that on the partitions before it. */
export const NewestWork = ({ asset }: { readonly asset: string }) => {
  const query = useMaterializations(asset);
  const trouble = useTrouble(query);
  const materializations = query.data?.materializations ?? [];
  const newest = newestOf(materializations);
  return (
    <Stack as="section" aria-labelledby="newest" gap={3} minW={0}>
      <Heading as="h2" size="sm" id="newest">
        Newest materialization
      </Heading>
      {trouble !== null && query.data === undefined ? <Trouble error={trouble} /> : null}
      {query.data !== undefined && newest === undefined ? (
        <Text color="fg.muted">None of its partitions was materialized yet.</Text>
      ) : null}
      {newest === undefined ? null : (
        <>
          <Newest asset={asset} newest={newest} />
          <Text fontSize="sm" color="fg.muted">
            {materializations.length > 1 ? `The newest ${materializations.length}; point at one for its numbers:` : ""}
          </Text>
          <WorkCharts asset={asset} partition={newest.key} materializations={materializations} columns={2} />
        </>
      )}
    </Stack>
  );
};
