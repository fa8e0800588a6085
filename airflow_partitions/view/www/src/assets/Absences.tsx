import { Alert, Code } from "@chakra-ui/react";

import type { components } from "../rest/schema";

/** The Dags of an asset that Airflow can't run as they are, each with its cause and the way out. */
export const Absences = ({ absent }: { readonly absent: readonly components["schemas"]["Absence"][] }) =>
  absent.map((dag) => (
    <Alert.Root key={dag.dag_id} status="error" role="alert">
      <Alert.Indicator />
      <Alert.Content minW={0}>
        <Alert.Title overflowWrap="anywhere">Airflow can’t run it now: {dag.text}</Alert.Title>
        {dag.error === null ? null : (
          <Code variant="plain" whiteSpace="pre-wrap" overflowWrap="anywhere">
            {dag.error}
          </Code>
        )}
      </Alert.Content>
    </Alert.Root>
  ));
