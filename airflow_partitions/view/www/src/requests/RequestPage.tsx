import { Code, DataList, Link, Stack } from "@chakra-ui/react";
import type { ReactNode } from "react";
import { Link as RouterLink, useNavigate, useParams } from "react-router-dom";

import { counted, number } from "../page/amounts";
import { PausedDags } from "../actions/PausedDags";
import { useAsset } from "../assets/useAsset";
import { Answer } from "../page/Answer";
import { Page } from "../page/Page";
import { paths } from "../page/paths";
import { useFailed } from "./failed";
import { FailedPartitions } from "./FailedPartitions";
import { Moment } from "./Moment";
import { hasEnded, type Request, useRequest } from "./request";
import { RequestControls } from "./RequestControls";
import { RequestState } from "./RequestState";
import { RunsBar } from "./RunsBar";

const Item = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <DataList.Item alignItems="start">
    <DataList.ItemLabel minW={36}>{name}</DataList.ItemLabel>
    <DataList.ItemValue overflowWrap="anywhere">{children}</DataList.ItemValue>
  </DataList.Item>
);

const About = ({ request }: { readonly request: Request }) => {
  const { options } = request;
  return (
    <DataList.Root orientation="horizontal" size="md" gap={2}>
      <Item name="Asset">
        <Link asChild color="fg.info">
          <RouterLink to={paths.asset(request.asset)}>
            <bdi>{request.asset}</bdi>
          </RouterLink>
        </Link>
      </Item>
      <Item name="Partitions">
        <span>
          {number(request.partitions)}: <bdi>{request.selection}</bdi>
        </span>
      </Item>
      <Item name="Made by">
        <Link asChild color="fg.info">
          <RouterLink to={paths.dag(request.dag_id)}>
            <bdi>{request.dag_id}</bdi>
          </RouterLink>
        </Link>
      </Item>
      <Item name="Asked for">
        <span>
          <Moment at={request.at} />
          {request.by === "" ? null : (
            <>
              {" by "}
              <bdi>{request.by}</bdi>
            </>
          )}
        </span>
      </Item>
      {request.cancelled === null ? null : (
        <Item name="Cancelled">
          <Moment at={request.cancelled} />
        </Item>
      )}
      <Item name="Order">
        {options.newest_first ? "the newest partition first" : "the oldest partition first"},{" "}
        {counted(options.concurrency, "run")} at a time{options.stop_at_failure ? ", stops at the first failure" : ""}
        {options.while_paused ? ", also while the Dag is paused" : ""}
      </Item>
      {request.error == null ? null : (
        <Item name="Newest error">
          <bdi>{request.error}</bdi>
        </Item>
      )}
      {options.label === "" ? null : (
        <Item name="Label">
          <bdi>{options.label}</bdi>
        </Item>
      )}
      {Object.keys(options.conf).length === 0 ? null : (
        <Item name="Configuration">
          <Code whiteSpace="pre-wrap">{JSON.stringify(options.conf, null, 2)}</Code>
        </Item>
      )}
    </DataList.Root>
  );
};

/** The partitions of a request that are failed now. */
const Failures = ({ request }: { readonly request: Request }) => {
  const { data: about, isError } = useAsset(request.asset);
  // Keys that are known at runtime are listed in the order in which they came.
  const inOrder = about === undefined ? (isError ? false : undefined) : about.definition.kind !== "runtime";
  const failed = useFailed(request, request.runs.failed ?? 0, { inOrder, atWork: !hasEnded(request) });
  return <FailedPartitions of={request} failed={failed} />;
};

/** One request: how far it has come, what failed, and what may be done with it. */
export const RequestPage = () => {
  const { request = "" } = useParams();
  const navigate = useNavigate();
  const query = useRequest(Number(request));
  const { data } = query;
  return (
    <Page
      title={`Request ${request}`}
      crumbs={[{ name: "Requests", to: paths.requests() }]}
      beside={data === undefined ? null : <RequestState state={data.state} />}
      actions={
        data === undefined ? null : <RequestControls request={data} onDeleted={() => void navigate(paths.requests())} />
      }
    >
      <Answer query={query}>
        {(shown) => (
          <Stack gap={5}>
            {shown.dag_is_paused && !hasEnded(shown) ? <PausedDags dags={[shown.dag_id]} /> : null}
            <RunsBar request={shown} />
            <About request={shown} />
            <Failures request={shown} />
          </Stack>
        )}
      </Answer>
    </Page>
  );
};
