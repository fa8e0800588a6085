import { Alert, Badge, Box, Table, Text } from "@chakra-ui/react";

import type { components } from "../rest/schema";
import { counted, duration, number, size } from "../page/amounts";

type Plan = components["schemas"]["Plan"];
type Step = components["schemas"]["Step"];

const ROLES = { asked: "asked for", upstream: "needed first", downstream: "follows by events" } as const;

const cost = ({ seconds, bytes }: Pick<Step, "seconds" | "bytes">): string =>
  [seconds === null ? "" : duration(seconds), bytes === null ? "" : size(bytes)].filter(Boolean).join(", ");

const again = (step: Step): string => {
  if (step.again === 0) return "";
  return step.again === step.partitions ? ", again" : `, ${number(step.again)} of them again`;
};

/** By how many tasks they are made, and what lets only some of them be at work at a time. */
export const paceWords = ({ batch, tasks, limits }: Pick<Step, "batch" | "tasks" | "limits">): string =>
  [
    batch > 1 ? `${counted(tasks, "task")}, of up to ${counted(batch, "partition")} each` : "",
    ...Object.entries(limits).map(
      ([dimension, most]) => `at most ${counted(most, "run")} of each ${dimension} at a time`,
    ),
  ]
    .filter(Boolean)
    .join("; ");

const StepRow = ({ step, order }: { readonly step: Step; readonly order: number }) => (
  <Table.Row verticalAlign="top">
    <Table.Cell>{order}</Table.Cell>
    <Table.Cell>
      <Text overflowWrap="anywhere">{step.asset ?? step.dag_id}</Text>
      <Badge colorPalette={step.role === "asked" ? "brand" : "gray"}>{ROLES[step.role]}</Badge>
    </Table.Cell>
    <Table.Cell minW={36}>
      <Text>
        {number(step.partitions)}
        {again(step)}
      </Text>
      <Text color="fg.muted" fontSize="xs" overflowWrap="anywhere" lineClamp={3} title={step.selection}>
        <bdi>{step.selection}</bdi>
      </Text>
      {paceWords(step) === "" ? null : (
        <Text color="fg.muted" fontSize="xs" overflowWrap="anywhere">
          {paceWords(step)}
        </Text>
      )}
      {step.stays === "" ? null : (
        <Text color="fg.warning" fontSize="xs" overflowWrap="anywhere" lineClamp={3} title={step.stays}>
          stay stale, as nothing makes them again: <bdi>{step.stays}</bdi>
        </Text>
      )}
    </Table.Cell>
    <Table.Cell whiteSpace="nowrap">{cost(step) || "no history"}</Table.Cell>
  </Table.Row>
);

/** How many partitions one asks for, and how many others are made again because of it. */
export const numbersOf = ({ steps }: Plan): { asked: number; follow: number } => {
  const sum = (some: readonly Step[]) => some.reduce((total, { partitions }) => total + partitions, 0);
  return {
    asked: sum(steps.filter(({ role }) => role !== "downstream")),
    follow: sum(steps.filter(({ role }) => role === "downstream")),
  };
};

/** What a request would do: which partitions, in which order, how many, and what that usually takes. */
export const PlanPreview = ({ plan }: { readonly plan: Plan }) => {
  const { asked, follow } = numbersOf(plan);
  const usual = cost(plan);
  const lacking = Object.entries(plan.lacking);
  return (
    <Box as="section" aria-label="Plan">
      <Text fontWeight="semibold" role="status" mb={1}>
        {counted(asked, "partition")}
        {follow === 0 ? "" : `; ${number(follow)} more follow by events`}
        {usual === "" ? null : (
          <Text as="span" color="fg.muted" fontWeight="normal">
            {` (usually ${usual}, one after the other)`}
          </Text>
        )}
      </Text>
      <Table.ScrollArea maxH={64} tabIndex={0} role="group" aria-label="Steps of the plan">
        <Table.Root size="sm" stickyHeader>
          <Table.Header>
            <Table.Row>
              <Table.ColumnHeader aria-label="Order">#</Table.ColumnHeader>
              <Table.ColumnHeader>Asset</Table.ColumnHeader>
              <Table.ColumnHeader>Partitions</Table.ColumnHeader>
              <Table.ColumnHeader>Usually</Table.ColumnHeader>
            </Table.Row>
          </Table.Header>
          <Table.Body>
            {plan.steps.map((step, index) => (
              <StepRow key={`${step.dag_id} ${step.role} ${step.asset ?? ""}`} step={step} order={index + 1} />
            ))}
          </Table.Body>
        </Table.Root>
      </Table.ScrollArea>
      {lacking.length === 0 ? null : (
        <Alert.Root status="warning" mt={2}>
          <Alert.Indicator />
          <Alert.Content>
            <Alert.Title>Some of what they need is missing upstream</Alert.Title>
            {lacking.map(([asset, text]) => (
              <Alert.Description key={asset} overflowWrap="anywhere" lineClamp={3}>
                {asset}: <bdi>{text}</bdi>
              </Alert.Description>
            ))}
          </Alert.Content>
        </Alert.Root>
      )}
    </Box>
  );
};
