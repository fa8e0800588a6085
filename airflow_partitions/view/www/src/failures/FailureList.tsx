import { Box, Heading, Link, Text } from "@chakra-ui/react";
import { Link as RouterLink } from "react-router-dom";

import { counted, number } from "../page/amounts";
import { paths } from "../page/paths";
import { Moment } from "../requests/Moment";
import type { components } from "../rest/schema";
import { StateMark } from "../states/StateMark";

type Failure = components["schemas"]["Failure"];

const Line = ({ failure }: { readonly failure: Failure }) => {
  const { assets, count, error, since, last, tasks } = failure;
  return (
    <Box as="li" py={3} px={2} borderBottomWidth={1}>
      <Heading as="h2" size="sm" display="flex" gap={2} alignItems="center">
        <StateMark state="failed" />
        {counted(count, "partition")}
        {assets.length > 1 ? ` of ${counted(assets.length, "asset")}` : ""}
      </Heading>
      <Text overflowWrap="anywhere" my={1}>
        <bdi>{error}</bdi>
      </Text>
      <Text fontSize="sm" color="fg.muted">
        {tasks.length === 0 ? "" : `Task ${tasks.join(", ")}. `}
        {since === null ? null : (
          <>
            Since <Moment at={since} />
          </>
        )}
        {last === null || last === since ? null : (
          <>
            , last <Moment at={last} />
          </>
        )}
      </Text>
      <Box as="ul" listStyleType="none" mt={1} fontSize="sm">
        {assets.map((of) => (
          <li key={of.asset}>
            <Link asChild color="fg.info" overflowWrap="anywhere">
              <RouterLink to={`${paths.asset(of.asset)}?states=failed`}>
                <bdi>{of.asset}</bdi>
              </RouterLink>
            </Link>
            {` ${number(of.count)}: `}
            <bdi>{of.partitions}</bdi>
          </li>
        ))}
      </Box>
    </Box>
  );
};

/** Failed partitions by their errors, the most first. */
export const FailureList = ({ failures }: { readonly failures: readonly Failure[] }) => (
  <Box as="ul" listStyleType="none" aria-label="Failures by error">
    {failures.map((failure) => (
      <Line key={failure.id} failure={failure} />
    ))}
  </Box>
);
