import { Link } from "@chakra-ui/react";
import { Fragment } from "react";
import { Link as RouterLink } from "react-router-dom";

import { number } from "../page/amounts";
import { paths } from "../page/paths";
import { rest } from "../rest/client";
import type { components } from "../rest/schema";
import { written } from "../selection/text";
import type { Request } from "./request";

type Stretch = components["schemas"]["Stretch"];

/** The most partitions of a stretch of which each is a link. */
const FEW = 10;

/** The text that selects a stretch; `null` where it has no other bounds than its keys. */
export const stretchText = ({ start, end, segments }: Stretch): string | null => {
  const conditions = Object.entries(segments ?? {}).map(
    ([name, values]) => `${name} in ${values.map(written).join(",")}`,
  );
  return [...(start == null || end == null ? [] : [`${start}..${end}`]), ...conditions].join(" & ") || null;
};

/** The keys of a stretch with few, in order; `undefined` until they are there, and where the server lists others. */
const useKeys = ({ asset, selection }: Request, stretch: Stretch, inOrder: boolean): readonly string[] | undefined => {
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

/** Failed partitions side by side: where they are few each is a link, else the first and the last. */
export const FailedStretch = ({
  request,
  stretch,
  inOrder,
}: {
  readonly request: Request;
  readonly stretch: Stretch;
  /** Whether the server lists the keys of the asset in the order of its partitions. */
  readonly inOrder: boolean;
}) => {
  const keys = useKeys(request, stretch, inOrder);
  return (
    <span>
      {(keys ?? [stretch.first, stretch.last]).map((key, index) => (
        <Fragment key={key}>
          {index === 0 ? "" : keys === undefined ? " to " : ", "}
          <Link asChild color="fg.info">
            <RouterLink to={paths.partition(request.asset, key)}>
              <bdi>{key}</bdi>
            </RouterLink>
          </Link>
        </Fragment>
      ))}
      {keys === undefined ? ` (${number(stretch.count)})` : ""}
    </span>
  );
};
