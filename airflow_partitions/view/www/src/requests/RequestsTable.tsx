import { Checkbox, Link, Table, Text } from "@chakra-ui/react";
import { Link as RouterLink } from "react-router-dom";

import { counted } from "../page/amounts";
import { paths } from "../page/paths";
import type { Request } from "./request";
import { RequestState } from "./RequestState";
import { RunsBar } from "./RunsBar";
import { Moment } from "./Moment";

/** A box to tick whose label is only read out. */
const Choice = ({
  label,
  checked,
  disabled = false,
  onChange,
}: {
  readonly label: string;
  readonly checked: boolean | "indeterminate";
  readonly disabled?: boolean;
  readonly onChange: (checked: boolean) => void;
}) => (
  <Checkbox.Root
    size="sm"
    colorPalette="brand"
    checked={checked}
    disabled={disabled}
    onCheckedChange={(change) => onChange(change.checked === true)}
  >
    <Checkbox.HiddenInput aria-label={label} />
    <Checkbox.Control />
  </Checkbox.Root>
);

type Chosen = {
  /** The numbers of those that are chosen. */
  readonly chosen: ReadonlySet<number>;
  readonly onChosen: (chosen: ReadonlySet<number>) => void;
  /** Whether one may change it. */
  readonly mayChange: (request: Request) => boolean;
};

const Row = ({ request, chosen, onChosen, mayChange }: Chosen & { readonly request: Request }) => (
  <Table.Row verticalAlign="top">
    <Table.Cell>
      {mayChange(request) ? (
        <Choice
          label={`Choose request ${request.id}`}
          checked={chosen.has(request.id)}
          onChange={(checked) =>
            onChosen(new Set([...[...chosen].filter((id) => id !== request.id), ...(checked ? [request.id] : [])]))
          }
        />
      ) : null}
    </Table.Cell>
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
      {[request.problem, request.error].map((words) =>
        words == null ? null : (
          <Text key={words} fontSize="xs" overflowWrap="anywhere" lineClamp={2} title={words} mt={1}>
            <bdi>{words}</bdi>
          </Text>
        ),
      )}
    </Table.Cell>
    <Table.Cell>
      <Link asChild color="fg.info" overflowWrap="anywhere">
        <RouterLink to={paths.asset(request.asset)}>
          <bdi>{request.asset}</bdi>
        </RouterLink>
      </Link>
    </Table.Cell>
    <Table.Cell minW={40} maxW={96}>
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
    <Table.Cell minW={24} whiteSpace="normal">
      <Moment at={request.at} />
    </Table.Cell>
  </Table.Row>
);

/** Requests, each in a line, to be chosen. */
export const RequestsTable = ({ requests, ...choice }: Chosen & { readonly requests: readonly Request[] }) => {
  const { chosen, onChosen, mayChange } = choice;
  const able = requests.filter(mayChange).map(({ id }) => id);
  const some = able.filter((id) => chosen.has(id)).length;
  return (
    <Table.ScrollArea>
      <Table.Root size="sm" interactive>
        <Table.Header>
          <Table.Row>
            <Table.ColumnHeader>
              <Choice
                label="Choose all requests"
                checked={some === 0 ? false : some === able.length ? true : "indeterminate"}
                disabled={able.length === 0}
                onChange={(checked) => onChosen(new Set(checked ? able : []))}
              />
            </Table.ColumnHeader>
            {["Request", "State", "Progress", "Asset", "Partitions", "Label", "By", "When"].map((name) => (
              <Table.ColumnHeader key={name}>{name}</Table.ColumnHeader>
            ))}
          </Table.Row>
        </Table.Header>
        <Table.Body>
          {requests.map((request) => (
            <Row key={request.id} request={request} {...choice} />
          ))}
        </Table.Body>
      </Table.Root>
    </Table.ScrollArea>
  );
};
