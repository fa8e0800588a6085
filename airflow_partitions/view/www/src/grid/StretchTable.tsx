import { Button, Link, Table, Text } from "@chakra-ui/react";
import { keepPreviousData } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link as RouterLink } from "react-router-dom";

import { LIVE } from "../page/queries";
import { number } from "../page/amounts";
import { paths } from "../page/paths";
import { Answer } from "../page/Answer";
import { rest } from "../rest/client";
import type { State } from "../states/state";
import { StateName } from "../states/StateName";

/** The partitions as a table: those side by side in one state are one row, the newest first. */
export const StretchTable = ({
  asset,
  select,
  states,
}: {
  readonly asset: string;
  readonly select: string;
  readonly states: readonly State[];
}) => {
  const stretches = rest.useInfiniteQuery(
    "get",
    "/api/v1/assets/{asset}/states",
    { params: { path: { asset }, query: { limit: 50, select: select || null, states: [...states] } } },
    {
      initialPageParam: null,
      getNextPageParam: ({ cursor }) => cursor,
      refetchInterval: LIVE,
      placeholderData: keepPreviousData,
    },
  );
  const rows = stretches.data?.pages.flatMap((page) => page.stretches) ?? [];
  // A page may have none of the states, and still others follow.
  const { hasNextPage, isFetching, fetchNextPage } = stretches;
  const few = rows.length < 25;
  useEffect(() => {
    if (few && hasNextPage && !isFetching) void fetchNextPage();
  }, [few, hasNextPage, isFetching, fetchNextPage]);
  const link = (key: string) => (
    <Link asChild color="fg.info" display="inline-block" maxWidth="28rem" truncate title={key}>
      <RouterLink to={paths.partition(asset, key)}>
        <bdi>{key}</bdi>
      </RouterLink>
    </Link>
  );
  const none = <Text color="fg.muted">{isFetching || hasNextPage ? "Looking…" : "No partition."}</Text>;
  const table = (
    <Table.ScrollArea>
      <Table.Root size="sm" aria-label={`Partitions of ${asset}`}>
        <Table.Header>
          <Table.Row>
            <Table.ColumnHeader>State</Table.ColumnHeader>
            <Table.ColumnHeader>First</Table.ColumnHeader>
            <Table.ColumnHeader>Last</Table.ColumnHeader>
            <Table.ColumnHeader textAlign="end">Partitions</Table.ColumnHeader>
          </Table.Row>
        </Table.Header>
        <Table.Body>
          {rows.map(({ state, first, last, count, provisional }) => (
            <Table.Row key={`${first} ${last} ${state}`}>
              <Table.Cell>
                <StateName state={state} />
                {provisional ? ", provisional" : ""}
              </Table.Cell>
              <Table.Cell>{link(first)}</Table.Cell>
              <Table.Cell>{count === 1 ? "" : link(last)}</Table.Cell>
              <Table.Cell textAlign="end">{number(count)}</Table.Cell>
            </Table.Row>
          ))}
        </Table.Body>
      </Table.Root>
      {hasNextPage ? (
        <Button size="xs" variant="outline" m={2} onClick={() => void fetchNextPage()}>
          Older
        </Button>
      ) : null}
    </Table.ScrollArea>
  );
  return (
    <Answer query={stretches} loading={none}>
      {() => (rows.length === 0 ? none : table)}
    </Answer>
  );
};
