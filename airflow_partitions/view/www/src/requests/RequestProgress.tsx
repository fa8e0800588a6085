import { Box, HStack, Link } from "@chakra-ui/react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link as RouterLink } from "react-router-dom";

import { PausedDags } from "../actions/PausedDags";
import { Refusal } from "../page/Refusal";
import { paths } from "../page/paths";
import { Problem } from "../rest/problem";
import { hasEnded, isOfRequest, useRequest } from "./request";
import { RequestControls } from "./RequestControls";
import { RequestState } from "./RequestState";
import { partsOf, partsText, RunsBar } from "./RunsBar";

/** One request in place: how far it has come, what may be done with it, and the way to its page. */
export const RequestProgress = ({ request: id }: { readonly request: number }) => {
  const queries = useQueryClient();
  const { data: request, error } = useRequest(id);
  const come = request === undefined ? "" : `${request.state} ${partsText(partsOf(request))}`;
  useEffect(() => {
    // What else is on the page has changed with it.
    if (come !== "") void queries.invalidateQueries({ predicate: ({ queryKey }) => !isOfRequest(queryKey) });
  }, [queries, come]);
  // A number without a request is that of a backfill of Airflow's own.
  if (error instanceof Problem && error.status === 404) return null;
  return (
    <Box borderWidth={1} borderRadius="md" p={3}>
      <HStack justify="space-between" mb={2} wrap="wrap">
        <HStack>
          <Link asChild fontWeight="medium">
            <RouterLink to={paths.request(id)}>Request {id}</RouterLink>
          </Link>
          {request === undefined ? null : <RequestState state={request.state} />}
        </HStack>
        {request === undefined ? null : <RequestControls request={request} size="xs" />}
      </HStack>
      {request === undefined ? null : <RunsBar request={request} />}
      {request !== undefined && !hasEnded(request) && request.dag_is_paused ? (
        <PausedDags dags={[request.dag_id]} />
      ) : null}
      {error ? <Refusal error={error} /> : null}
    </Box>
  );
};
