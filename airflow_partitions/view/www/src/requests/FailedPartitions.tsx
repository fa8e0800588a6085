import { Box, Heading, Link, List, Text } from "@chakra-ui/react";
import type { UseQueryResult } from "@tanstack/react-query";
import { Fragment } from "react";
import { Link as RouterLink } from "react-router-dom";

import { number } from "../page/amounts";
import { paths } from "../page/paths";
import { Trouble } from "../page/Trouble";
import { useTrouble } from "../page/useTrouble";
import { StateMark } from "../states/StateMark";
import type { Failed, FailedLine, Selected } from "./failed";

const Line = ({ asset, line: { keys, count, cause } }: { readonly asset: string; readonly line: FailedLine }) => (
  <Box minW={0}>
    {keys.map((key, index) => (
      <Fragment key={key}>
        {index === 0 ? "" : keys.length < count ? " to " : ", "}
        <Link asChild color="fg.info" display="inline">
          <RouterLink to={paths.partition(asset, key)}>
            <bdi>{key}</bdi>
          </RouterLink>
        </Link>
      </Fragment>
    ))}
    {keys.length < count ? ` (${number(count)})` : ""}
    {cause === null ? null : (
      <Text color="fg.muted">
        {cause.of === null ? null : (
          <>
            <bdi>{cause.of}</bdi>:{" "}
          </>
        )}
        <bdi>{cause.text}</bdi>
      </Text>
    )}
  </Box>
);

/** Where there are more than were read. */
const More = ({ of, none }: { readonly of: Selected; readonly none: boolean }) => {
  const select = of.selection === null ? "" : `&select=${encodeURIComponent(of.selection)}`;
  return (
    <Text color="fg.muted" fontSize="sm">
      {none ? "None of the newest partitions, but some of the older ones: see " : "And more: see "}
      <Link asChild color="fg.info" display="inline">
        <RouterLink to={`${paths.asset(of.asset)}?states=failed${select}`}>the picture of all</RouterLink>
      </Link>
      .
    </Text>
  );
};

/** The partitions that are failed now, with links; of the newest with what made them fail. */
export const FailedPartitions = ({
  of,
  failed,
}: {
  readonly of: Selected;
  readonly failed: UseQueryResult<Failed>;
}) => {
  const trouble = useTrouble(failed);
  if (trouble !== null && failed.data === undefined) return <Trouble error={trouble} />;
  const { lines, more } = failed.data ?? { lines: [], more: false };
  if (lines.length === 0 && !more) return null;
  return (
    <section aria-labelledby="failed">
      <Heading as="h2" size="sm" id="failed" mb={2}>
        Failed partitions
      </Heading>
      <List.Root variant="plain" gap={1} fontSize="sm">
        {lines.map((line) => (
          <List.Item key={line.keys.join(" ")} display="flex" gap={2} overflowWrap="anywhere">
            <Box pt={0.5} flexShrink={0}>
              <StateMark state="failed" />
            </Box>
            <Line asset={of.asset} line={line} />
          </List.Item>
        ))}
      </List.Root>
      {more ? <More of={of} none={lines.length === 0} /> : null}
    </section>
  );
};
