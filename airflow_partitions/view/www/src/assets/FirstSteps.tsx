import { Box, Code, Heading, Link, Stack, Text } from "@chakra-ui/react";
import { Link as RouterLink } from "react-router-dom";

import { paths } from "../page/paths";

const EXAMPLE = `from airflow_partitions import PartitionByInterval, asset

@asset(schedule="@daily", partition=PartitionByInterval("@daily", start="2024-01-01"))
def shop_orders(partition):  # one run, and one partition, per day
    ...`;

/** What one sees before there is any partitioned asset: how to get one. */
export const FirstSteps = () => (
  <Stack gap={3} maxW="46rem" py={4}>
    <Heading as="h2" size="sm">
      No partitioned asset yet
    </Heading>
    <Text>
      Give an asset a partition, in a file of Airflow’s Dags folder. It is listed here as soon as Airflow has read the
      file; each of its partitions has a run of its own, and is shown with its state.
    </Text>
    <Box as="pre" bg="bg.muted" borderRadius="md" p={4} fontSize="sm" fontFamily="mono" overflowX="auto">
      {EXAMPLE}
    </Box>
    <Text color="fg.muted">
      The README of the package <Code>airflow-partitions</Code> begins with a whole example. There are assets, but you
      don’t see them here? Then you may not read their Dags; or the{" "}
      <Link asChild colorPalette="blue" variant="underline">
        <RouterLink to={paths.doctor()}>doctor</RouterLink>
      </Link>{" "}
      knows what is wrong.
    </Text>
  </Stack>
);
