import { Box, Link, Text } from "@chakra-ui/react";
import { Fragment } from "react";
import { Link as RouterLink } from "react-router-dom";

import { number } from "../page/amounts";
import { paths } from "../page/paths";
import { rest } from "../rest/client";
import type { components } from "../rest/schema";
import { written } from "../selection/text";

type Stretch = components["schemas"]["Stretch"];
type Run = components["schemas"]["Run"];

/** Partitions of an asset; without a selection all of them. */
export type Selected = { readonly asset: string; readonly selection: string | null };

/** The most partitions of a stretch of which each is a link. */
const FEW = 10;

/** What made a run fail: "task days failed after 3 tries: ValueError: no rows". */
export const causeOf = ({ failed, tries, error }: Run): string => {
  const what = error ?? "no cause was noted";
  if (failed.length === 0) return what;
  const after = tries > 1 ? ` after ${number(tries)} tries` : "";
  return `task ${failed.join(", ")} failed${after}: ${what}`;
};

/** What made the last failed run of a partition fail. */
const Cause = ({ asset, partition }: { readonly asset: string; readonly partition: string }) => {
  const { data } = rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/partitions/{key}",
    { params: { path: { asset, key: partition } } },
    { staleTime: 30_000 },
  );
  const run = data?.runs.find(({ state }) => state === "failed");
  return (
    <Text as="span" display="block" color="fg.muted" minH={5}>
      <bdi>{run === undefined ? "" : causeOf(run)}</bdi>
    </Text>
  );
};

/** The text that selects a stretch; `null` where it has no other bounds than its keys. */
export const stretchText = ({ start, end, segments }: Stretch): string | null => {
  const conditions = Object.entries(segments ?? {}).map(
    ([name, values]) => `${name} in ${values.map(written).join(",")}`,
  );
  return [...(start == null || end == null ? [] : [`${start}..${end}`]), ...conditions].join(" & ") || null;
};

/** The keys of a stretch with few, in order; `undefined` until they are there, and where the server lists others. */
const useKeys = ({ asset, selection }: Selected, stretch: Stretch, inOrder: boolean): readonly string[] | undefined => {
  const { first, last, count } = stretch;
  const text = stretchText(stretch);
  const query =
    text === null
      ? { select: selection, cursor: first, limit: count - 1 }
      : { select: text, oldest_first: true, limit: count };
  const { data } = rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/keys",
    { params: { path: { asset }, query } },
    { enabled: count > 2 && count <= FEW && (text !== null || inOrder), staleTime: Infinity },
  );
  if (count === 1) return [first];
  if (count === 2) return [first, last];
  const keys = [...(text === null ? [first] : []), ...(data?.keys.map(({ key }) => key) ?? [])];
  return keys.length === count && keys.at(-1) === last ? keys : undefined;
};

const To = ({ asset, partition }: { readonly asset: string; readonly partition: string }) => (
  <Link asChild color="fg.info" display="inline">
    <RouterLink to={paths.partition(asset, partition)}>
      <bdi>{partition}</bdi>
    </RouterLink>
  </Link>
);

/** Failed partitions side by side: where they are few each is a link, else the first and the last. */
export const FailedStretch = ({
  of,
  stretch,
  inOrder,
  causes,
}: {
  readonly of: Selected;
  readonly stretch: Stretch;
  /** Whether the server lists the keys of the asset in the order of its partitions. */
  readonly inOrder: boolean;
  /** Of how many partitions the cause may be told. */
  readonly causes: number;
}) => {
  const keys = useKeys(of, stretch, inOrder);
  if (keys !== undefined && keys.length <= causes) {
    return (
      <Box minW={0}>
        {keys.map((key) => (
          <Box key={key}>
            <To asset={of.asset} partition={key} />
            <Cause asset={of.asset} partition={key} />
          </Box>
        ))}
      </Box>
    );
  }
  return (
    <span>
      {(keys ?? [stretch.first, stretch.last]).map((key, index) => (
        <Fragment key={key}>
          {index === 0 ? "" : keys === undefined ? " to " : ", "}
          <To asset={of.asset} partition={key} />
        </Fragment>
      ))}
      {keys === undefined ? ` (${number(stretch.count)})` : ""}
      {causes > 0 ? <Cause asset={of.asset} partition={stretch.last} /> : null}
    </span>
  );
};
