import { Heading, Link, Table, Text } from "@chakra-ui/react";
import { Link as RouterLink } from "react-router-dom";

import { duration } from "../page/amounts";
import { paths } from "../page/paths";
import { Moment } from "../requests/Moment";
import type { components } from "../rest/schema";
import { RunState } from "./RunState";

type Run = components["schemas"]["Run"];

const took = ({ began, ended }: Run): string =>
  began === null || ended === null ? "" : duration((Date.parse(ended) - Date.parse(began)) / 1000);

const To = ({ to, children }: { readonly to: string; readonly children: string }) => (
  <Link asChild color="fg.info" overflowWrap="anywhere">
    <RouterLink to={to}>
      <bdi>{children}</bdi>
    </RouterLink>
  </Link>
);

const Row = ({ run }: { readonly run: Run }) => {
  const tasks = run.failed.length > 0 ? run.failed : run.task_id === null ? [] : [run.task_id];
  // Of a run that another one has made in its batch, no task has run: the log is that of the other.
  const leader = run.failed.length > 0 || run.tries > 1 ? null : (run.leader ?? null);
  return (
    <Table.Row verticalAlign="top">
      <Table.Cell>
        <RunState state={run.state} />
      </Table.Cell>
      <Table.Cell minW={48}>
        <To to={paths.run(run.dag_id, run.run_id)}>{run.run_id}</To>
        {run.error == null ? null : (
          <Text fontSize="sm" overflowWrap="anywhere">
            <bdi>{run.error}</bdi>
          </Text>
        )}
        {run.note === "" ? null : (
          <Text fontSize="xs" color="fg.muted" overflowWrap="anywhere" lineClamp={3}>
            <bdi>{run.note}</bdi>
          </Text>
        )}
      </Table.Cell>
      <Table.Cell>
        {run.kind}
        {run.backfill === null ? null : (
          <>
            {" "}
            <To to={paths.request(run.backfill)}>{`request ${run.backfill}`}</To>
          </>
        )}
      </Table.Cell>
      <Table.Cell whiteSpace="nowrap">{run.began === null ? "" : <Moment at={run.began} />}</Table.Cell>
      <Table.Cell whiteSpace="nowrap">{took(run)}</Table.Cell>
      <Table.Cell>{run.tries}</Table.Cell>
      <Table.Cell>
        {tasks.map((task) => (
          <Text key={task}>
            {leader === null ? (
              <To to={paths.task(run.dag_id, run.run_id, task)}>{run.failed.length > 0 ? `${task} (failed)` : task}</To>
            ) : (
              <To to={paths.task(run.dag_id, leader, task)}>{`${task} of its batch`}</To>
            )}
          </Text>
        ))}
      </Table.Cell>
    </Table.Row>
  );
};

/** The runs of a partition: the newest first, with links to their logs. */
export const RunsTable = ({ runs }: { readonly runs: readonly Run[] }) => (
  <section aria-labelledby="runs">
    <Heading as="h2" size="sm" id="runs" mb={2}>
      Runs
    </Heading>
    {runs.length === 0 ? (
      <Text color="fg.muted">No run of this partition is known to Airflow.</Text>
    ) : (
      <Table.ScrollArea>
        <Table.Root size="sm">
          <Table.Header>
            <Table.Row>
              {["State", "Run", "Kind", "Began", "Took", "Tries", "Logs"].map((name) => (
                <Table.ColumnHeader key={name}>{name}</Table.ColumnHeader>
              ))}
            </Table.Row>
          </Table.Header>
          <Table.Body>
            {runs.map((run) => (
              <Row key={`${run.dag_id} ${run.run_id}`} run={run} />
            ))}
          </Table.Body>
        </Table.Root>
      </Table.ScrollArea>
    )}
  </section>
);
