import { Alert, Link } from "@chakra-ui/react";
import { useQueries, useQuery } from "@tanstack/react-query";
import { Link as RouterLink } from "react-router-dom";

import { paths } from "../page/paths";
import { readDag } from "../rest/airflow";
import { followWords, missedQuery } from "./missed";
import { UnpauseButton } from "./UnpauseButton";

/** Those of some Dags that are paused, as Airflow has them now. */
export const usePaused = (dags: readonly string[]): string[] =>
  useQueries({
    queries: [...new Set(dags)].map((dag) => ({
      queryKey: ["dag", dag],
      queryFn: ({ signal }: { signal: AbortSignal }) => readDag(dag, signal),
    })),
  }).flatMap(({ data }) => (data?.is_paused === true ? [data.dag_id] : []));

const Paused = ({ dag, meaning, mayChange }: { dag: string; meaning: string; mayChange: boolean }) => {
  const { data: missed } = useQuery(missedQuery(dag));
  return (
    <Alert.Root status="warning" flexWrap="wrap">
      <Alert.Indicator />
      <Alert.Content minW={0}>
        <Alert.Title overflowWrap="anywhere">
          <Link asChild textDecoration="underline" display="inline">
            <RouterLink to={paths.dag(dag)}>{dag}</RouterLink>
          </Link>{" "}
          is paused
        </Alert.Title>
        <Alert.Description overflowWrap="anywhere">
          {meaning}
          {missed == null ? null : ` Then ${followWords(missed)}.`}
        </Alert.Description>
      </Alert.Content>
      {mayChange ? <UnpauseButton dag={dag} /> : null}
    </Alert.Root>
  );
};

/** Says of which Dags Airflow begins no runs, as they are paused, and what follows; and lets one end that. */
export const PausedDags = ({
  dags,
  meaning = "No run of it begins until it is unpaused.",
  mayChange = true,
}: {
  readonly dags: readonly string[];
  readonly meaning?: string | undefined;
  readonly mayChange?: boolean;
}) => usePaused(dags).map((dag) => <Paused key={dag} dag={dag} meaning={meaning} mayChange={mayChange} />);
