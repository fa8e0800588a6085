import { Button, Field, HStack, Input, NativeSelect, Text } from "@chakra-ui/react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { listAssets } from "../assets/list";
import { useSettled } from "../page/useSettled";
import { useAddress } from "../page/address";
import { Answer } from "../page/Answer";
import { Page } from "../page/Page";
import { rest } from "../rest/client";
import { ManyControls } from "./ManyControls";
import { hasEnded, pace, type Request } from "./request";
import { requestStates } from "./RequestState";
import { RequestsTable } from "./RequestsTable";

type Filter = { readonly assets: readonly string[]; readonly state: Request["state"] | undefined };

/** The requests for some assets, all if none is named, in one state or any: the newest first, asked for again. */
const useRequests = ({ assets, state }: Filter, enabled: boolean) =>
  rest.useInfiniteQuery(
    "get",
    "/api/v1/requests",
    { params: { query: { limit: 50, asset: [...assets], states: state === undefined ? null : [state] } } },
    {
      initialPageParam: null,
      getNextPageParam: ({ cursor }) => cursor,
      placeholderData: keepPreviousData,
      refetchInterval: (query) =>
        pace(query.state.data?.pages.some(({ requests }) => requests.some((request) => !hasEnded(request))) ?? false),
      enabled,
    },
  );

/** The names of the assets with a part of it in common, in capitals or not; none where there is nothing to look for. */
const useNamesWith = (part: string) =>
  rest.useQuery(
    "get",
    "/api/v1/assets",
    { params: { query: { search: part, limit: 100 } } },
    { enabled: part !== "", select: ({ assets }) => assets.map(({ name }) => name) },
  );

/** Whether one may change a request; of an asset that is no more the server says it. */
const useRights = () => {
  const { data } = useQuery({
    queryKey: ["assets", "names"],
    queryFn: ({ signal }) => listAssets(false, signal),
    staleTime: 60_000,
  });
  const rights = new Map(data?.map(({ name, may_change: mayChange }) => [name, mayChange]));
  return ({ asset }: Request): boolean => data !== undefined && (rights.get(asset) ?? true);
};

const Chosen = ({ requests }: { readonly requests: readonly Request[] }) => {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const mayChange = useRights();
  return (
    <>
      {requests.some(mayChange) ? (
        <ManyControls chosen={requests.filter(({ id }) => chosen.has(id))} onDone={() => setChosen(new Set())} />
      ) : null}
      <RequestsTable requests={requests} chosen={chosen} onChosen={setChosen} mayChange={mayChange} />
    </>
  );
};

/** All requests, by asset and state. */
export const RequestsPage = () => {
  const [params, put] = useAddress();
  const asset = params.get("asset") ?? "";
  const state = requestStates.find((each) => each === params.get("state"));
  const part = useSettled(asset.trim());
  const names = useNamesWith(part);
  const nowhere = part !== "" && names.data?.length === 0;
  const assets = part === "" ? [] : (names.data ?? []);
  const requests = useRequests({ assets, state }, part === "" || assets.length > 0);
  return (
    <Page title="Requests">
      <HStack gap={4} mb={3} align="end" wrap="wrap">
        <Field.Root maxW={72}>
          <Field.Label>Asset</Field.Label>
          <Input
            size="sm"
            type="search"
            placeholder="A part of its name"
            value={asset}
            onChange={(event) => put({ asset: event.target.value || null })}
          />
        </Field.Root>
        <Field.Root maxW={44}>
          <Field.Label>State</Field.Label>
          <NativeSelect.Root size="sm">
            <NativeSelect.Field value={state ?? ""} onChange={(event) => put({ state: event.target.value || null })}>
              <option value="">All states</option>
              {requestStates.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </NativeSelect.Field>
            <NativeSelect.Indicator />
          </NativeSelect.Root>
        </Field.Root>
      </HStack>
      {part !== "" && names.data === undefined ? (
        <Answer query={names}>{() => null}</Answer>
      ) : nowhere ? (
        <Text color="fg.muted">No asset has that in its name.</Text>
      ) : (
        <Answer query={requests}>
          {({ pages }) => {
            const listed = pages.flatMap((page) => page.requests);
            return listed.length > 0 ? (
              <Chosen requests={listed} />
            ) : (
              <Text color="fg.muted">
                {part === "" && state === undefined
                  ? "Nobody has asked for partitions yet. Do so on the page of an asset."
                  : "No request is so."}
              </Text>
            );
          }}
        </Answer>
      )}
      {requests.hasNextPage && !nowhere ? (
        <Button
          mt={3}
          size="sm"
          variant="outline"
          loading={requests.isFetchingNextPage}
          onClick={() => void requests.fetchNextPage()}
        >
          Show older requests
        </Button>
      ) : null}
    </Page>
  );
};
