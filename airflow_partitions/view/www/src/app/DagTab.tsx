import { Box, Code, Link, Tabs, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link as RouterLink } from "react-router-dom";

import { AssetView } from "../assets/AssetView";
import { namesQuery } from "../assets/list";
import { Answer } from "../page/Answer";
import { NoAnswer } from "./NoAnswer";
import { paths } from "../page/paths";

/** What stands on the page of a Dag that makes none: how one gets them. */
const NoPartitions = () => (
  <Text color="fg.muted" p={2}>
    This Dag makes no partitioned asset that you may see. With <Code>@asset(partition=…)</Code> or{" "}
    <Code>@spark_asset(partition=…)</Code> it would have a run for each partition, shown here.{" "}
    <Link asChild colorPalette="blue" variant="underline">
      <RouterLink to={paths.overview()}>All partitioned assets</RouterLink>
    </Link>
  </Text>
);

/** The partitions of the assets that a Dag makes, on its page. */
export const DagTab = ({ dagId }: { readonly dagId: string }) => {
  const assets = useQuery({ ...namesQuery, staleTime: 60_000 });
  return (
    <Box px={2} pt={2} pb={4} data-scroll>
      <NoAnswer />
      <Answer query={assets}>
        {(assets) => {
          const [first, ...others] = assets
            .filter(({ producers }) => producers.includes(dagId))
            .map(({ name }) => name);
          if (first === undefined) return <NoPartitions />;
          if (others.length === 0) return <AssetView asset={first} />;
          return (
            <Tabs.Root defaultValue={first} size="sm" lazyMount unmountOnExit>
              <Tabs.List overflowX="auto">
                {[first, ...others].map((name) => (
                  <Tabs.Trigger key={name} value={name}>
                    <bdi>{name}</bdi>
                  </Tabs.Trigger>
                ))}
              </Tabs.List>
              {[first, ...others].map((name) => (
                <Tabs.Content key={name} value={name}>
                  <AssetView asset={name} />
                </Tabs.Content>
              ))}
            </Tabs.Root>
          );
        }}
      </Answer>
    </Box>
  );
};
