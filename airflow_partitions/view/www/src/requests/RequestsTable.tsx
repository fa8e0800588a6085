import { Link, Table, Text } from "@chakra-ui/react";
import { Link as RouterLink } from "react-router-dom";

import { counted } from "../page/amounts";
import { paths } from "../page/paths";
import type { Request } from "./request";
import { RequestState } from "./RequestState";
import { RunsBar } from "./RunsBar";
import { Moment } from "./Moment";

const Row = ({ request }: { readonly request: Request }) => (
  <Table.Row verticalAlign="top">
    <Table.Cell>
      <Link asChild color="fg.info">
        <RouterLink to={paths.request(request.id)}>{request.id}</RouterLink>
      </Link>
    </Table.Cell>
    <Table.Cell>
      <RequestState state={request.state} />
    </Table.Cell>
    <Table.Cell minW={40}>
      <RunsBar request={request} />
    </Table.Cell>
    <Table.Cell>
      <Link asChild color="fg.info" overflowWrap="anywhere">
        <RouterLink to={paths.asset(request.asset)}>
          <bdi>{request.asset}</bdi>
        </RouterLink>
      </Link>
    </Table.Cell>
    <Table.Cell minW={44} maxW={96}>
      <Text>{counted(request.partitions, "partition")}</Text>
      <Text fontSize="xs" color="fg.muted" overflowWrap="anywhere" lineClamp={2} title={request.selection}>
        <bdi>{request.selection}</bdi>
      </Text>
    </Table.Cell>
    <Table.Cell overflowWrap="anywhere">
      <bdi>{request.options.label}</bdi>
    </Table.Cell>
    <Table.Cell>
      <bdi>{request.by}</bdi>
    </Table.Cell>
    <Table.Cell whiteSpace="nowrap">
      <Moment at={request.at} />
    </Table.Cell>
  </Table.Row>
);

/** Requests, each in a line. */
export const RequestsTable = ({ requests }: { readonly requests: readonly Request[] }) => (
  <Table.ScrollArea>
    <Table.Root size="sm" interactive>
      <Table.Header>
        <Table.Row>
          {["Request", "State", "Progress", "Asset", "Partitions", "Label", "By", "When"].map((name) => (
            <Table.ColumnHeader key={name}>{name}</Table.ColumnHeader>
          ))}
        </Table.Row>
      </Table.Header>
      <Table.Body>
        {requests.map((request) => (
          <Row key={request.id} request={request} />
        ))}
      </Table.Body>
    </Table.Root>
  </Table.ScrollArea>
);
