import { Alert, Button, Link } from "@chakra-ui/react";
import { useMutation, useQueries, useQueryClient } from "@tanstack/react-query";
import { Link as RouterLink } from "react-router-dom";

import { paths } from "../page/paths";
import { readDag, unpauseDag } from "../rest/airflow";
import { Refusal } from "../page/Refusal";

/** Those of some Dags that are paused, as Airflow has them now. */
export const usePaused = (dags: readonly string[]): string[] =>
  useQueries({
    queries: [...new Set(dags)].map((dag) => ({
      queryKey: ["dag", dag],
      queryFn: ({ signal }: { signal: AbortSignal }) => readDag(dag, signal),
    })),
  }).flatMap(({ data }) => (data?.is_paused === true ? [data.dag_id] : []));

/** Says of which Dags Airflow begins no runs, as they are paused, and lets one end that. */
export const PausedDags = ({
  dags,
  meaning = "No run of it begins until it is unpaused.",
}: {
  readonly dags: readonly string[];
  readonly meaning?: string | undefined;
}) => {
  const queries = useQueryClient();
  const paused = usePaused(dags);
  const unpause = useMutation({
    mutationFn: unpauseDag,
    onSuccess: () => queries.invalidateQueries(),
  });
  return (
    <>
      {paused.map((dag) => (
        <Alert.Root key={dag} status="warning" flexWrap="wrap">
          <Alert.Indicator />
          <Alert.Content>
            <Alert.Title>
              <Link asChild textDecoration="underline">
                <RouterLink to={paths.dag(dag)}>{dag}</RouterLink>
              </Link>{" "}
              is paused
            </Alert.Title>
            <Alert.Description>{meaning}</Alert.Description>
          </Alert.Content>
          <Button size="sm" variant="outline" loading={unpause.isPending} onClick={() => unpause.mutate(dag)}>
            Unpause
          </Button>
        </Alert.Root>
      ))}
      {unpause.error ? <Refusal error={unpause.error} /> : null}
    </>
  );
};
