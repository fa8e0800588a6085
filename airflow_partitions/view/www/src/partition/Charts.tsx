import { Box, Flex, Heading, SimpleGrid, Text } from "@chakra-ui/react";
import { scaleBand, scaleLinear } from "d3-scale";
import { useState } from "react";
import { Link } from "react-router-dom";

import { duration, number, size } from "../page/amounts";
import { paths } from "../page/paths";
import { Trouble } from "../page/Trouble";
import { useTrouble } from "../page/useTrouble";
import { type Bar, barsOf, type Measure, MEASURES } from "./bars";
import { type Materialization, useMaterializations } from "./materializations";

const HEIGHT = 48;
const STEP = 8;

const TITLES: Readonly<Record<Measure, string>> = {
  rows: "Rows written",
  files: "Files written",
  bytes: "Bytes written",
  seconds: "Time taken",
  read_rows: "Rows read",
  read_bytes: "Bytes read",
};

const text = (measure: Measure, value: number): string =>
  measure === "seconds" ? duration(value) : measure.endsWith("bytes") ? size(value) : number(value);

type Of = { readonly asset: string; readonly partition: string };

const Chart = ({ asset, partition, measure, bars }: Of & { readonly measure: Measure; readonly bars: Bar[] }) => {
  const [pointed, setPointed] = useState<Bar>();
  const own = pointed ?? bars.find(({ key }) => key === partition);
  const most = Math.max(...bars.map(({ value }) => value));
  const across = scaleBand(
    bars.map(({ key }) => key),
    [0, bars.length * STEP],
  ).padding(0.25);
  const up = scaleLinear([0, Math.max(1, most)], [1, HEIGHT]); // an empty one is seen, too
  return (
    <Box as="figure" borderWidth={1} borderRadius="md" p={3} minW={0}>
      <Flex as="figcaption" fontSize="sm" color="fg.muted" justify="space-between" gap={2}>
        <Text>{TITLES[measure]}</Text>
        <Text fontSize="xs" whiteSpace="nowrap">
          up to {text(measure, most)}
        </Text>
      </Flex>
      <Text fontSize="lg" fontWeight="semibold">
        {own === undefined ? "–" : text(measure, own.value)}
      </Text>
      <svg
        viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
        width="100%"
        height={HEIGHT}
        preserveAspectRatio="none"
        role="group"
        onPointerLeave={() => setPointed(undefined)}
      >
        {bars.map(({ key, value }, index) => {
          const label = `${key}: ${text(measure, value)}`;
          return (
            <Link
              key={key}
              to={paths.partition(asset, key)}
              aria-label={label}
              tabIndex={-1}
              onPointerEnter={() => setPointed({ key, value })}
            >
              <title>{label}</title>
              <rect x={index * STEP} y={0} width={STEP} height={HEIGHT} fill="transparent" />
              <Box asChild fill={key === partition ? "brand.solid" : "fg.subtle"} opacity={key === partition ? 1 : 0.5}>
                <rect x={across(key)} y={HEIGHT - up(value)} width={across.bandwidth()} height={up(value)} />
              </Box>
            </Link>
          );
        })}
      </svg>
      <Flex fontSize="xs" color="fg.muted" justify="space-between" gap={2} mt={1} minH={5}>
        {pointed === undefined ? (
          <>
            <Text truncate>{bars[0]?.key}</Text>
            <Text truncate>{bars.length > 1 ? bars.at(-1)?.key : ""}</Text>
          </>
        ) : (
          <Text truncate color="fg">
            {pointed.key}
          </Text>
        )}
      </Flex>
    </Box>
  );
};

/** What was written and read for some partitions, with the numbers of one of them in large letters. */
export const WorkCharts = ({
  asset,
  partition,
  materializations,
  columns = 3,
}: Of & {
  readonly materializations: readonly Materialization[];
  /** Charts beside each other on a wide screen. */
  readonly columns?: number;
}) => (
  <SimpleGrid columns={{ base: 1, sm: 2, lg: columns }} gap={3}>
    {MEASURES.map((measure) => ({ measure, bars: barsOf(materializations, measure) }))
      .filter(({ bars }) => bars.length > 0)
      .map((chart) => (
        <Chart key={chart.measure} asset={asset} partition={partition} {...chart} />
      ))}
  </SimpleGrid>
);

/** What was written and read for a partition, beside the same of those before it. */
export const Charts = ({ asset, partition, select }: Of & { readonly select: string | undefined }) => {
  const query = useMaterializations(asset, select);
  const { data } = query;
  const trouble = useTrouble(query);
  if (trouble !== null && data === undefined) return <Trouble error={trouble} />;
  if (!MEASURES.some((measure) => barsOf(data?.materializations ?? [], measure).length > 0)) return null;
  return (
    <section aria-labelledby="charts">
      <Heading as="h2" size="sm" id="charts" mb={2}>
        Work, beside the partitions before it
      </Heading>
      <WorkCharts asset={asset} partition={partition} materializations={data?.materializations ?? []} />
    </section>
  );
};
