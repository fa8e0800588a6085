import { Heading, Link, Table, Text } from "@chakra-ui/react";
import { Link as RouterLink } from "react-router-dom";

import { number } from "../page/amounts";
import { Answer } from "../page/Answer";
import { paths } from "../page/paths";
import { rest } from "../rest/client";
import type { components } from "../rest/schema";

type Changed = components["schemas"]["AssetChanges"];

const WORSE = ["failed", "late", "stale", "missing"] as const;

const Row = ({ changed }: { readonly changed: Changed }) => (
  <Table.Row>
    <Table.Cell>
      <Link asChild color="fg.info" overflowWrap="anywhere">
        <RouterLink to={paths.asset(changed.asset)}>
          <bdi>{changed.asset}</bdi>
        </RouterLink>
      </Link>
    </Table.Cell>
    {changed.error !== null ? (
      <Table.Cell colSpan={WORSE.length} overflowWrap="anywhere">
        {changed.error}
      </Table.Cell>
    ) : (
      WORSE.map((state) => (
        <Table.Cell key={state} title={changed[state]?.partitions}>
          {changed[state] === null ? "" : number(changed[state].count)}
        </Table.Cell>
      ))
    )}
  </Table.Row>
);

type Span = {
  /** A time or a length of time, as the address has it. */
  readonly since: string;
  /** How often it is asked again, in milliseconds. */
  readonly pace: number;
};

/** What got worse since a time, a line for each asset. */
export const Changes = ({ since, pace }: Span) => {
  const query = rest.useQuery("get", "/api/v1/changes", { params: { query: { since } } }, { refetchInterval: pace });
  return (
    <section aria-labelledby="worse">
      <Heading as="h2" size="sm" id="worse" mb={2}>
        What got worse since then
      </Heading>
      <Answer query={query}>
        {({ assets }) =>
          assets.length === 0 ? (
            <Text color="fg.muted">Nothing did.</Text>
          ) : (
            <Table.ScrollArea>
              <Table.Root size="sm">
                <Table.Header>
                  <Table.Row>
                    {["Asset", ...WORSE].map((name) => (
                      <Table.ColumnHeader key={name}>{name}</Table.ColumnHeader>
                    ))}
                  </Table.Row>
                </Table.Header>
                <Table.Body>
                  {assets.map((changed) => (
                    <Row key={changed.asset} changed={changed} />
                  ))}
                </Table.Body>
              </Table.Root>
            </Table.ScrollArea>
          )
        }
      </Answer>
    </section>
  );
};
