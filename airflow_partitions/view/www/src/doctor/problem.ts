import type { components } from "../rest/schema";

/** Something that does not go on by itself, as the server tells of it. */
export type Problem = components["schemas"]["DoctorProblem"];
export type Diagnosis = components["schemas"]["Diagnosis"];
export type Remedy = components["schemas"]["Remedy"];
export type Kind = Problem["kind"];

/** Headings of the kinds, what stops most first. */
export const headings: Readonly<Record<Kind, string>> = {
  "no-upkeep": "Upkeep",
  "import-error": "Files that can’t be imported",
  "missing-dag": "Dags that are gone",
  graph: "Dags that can’t work",
  "api-address": "Address of the API server",
  connection: "Connections that are missing",
  folder: "Folders that are missing",
  package: "Packages that are missing",
  "no-slots": "Tasks without a slot",
  cell: "Records",
  check: "What could not be looked at",
  "failed-runs": "Failed runs",
  "request-failed": "Failed requests",
  "request-stopped": "Stopped requests",
  late: "Late partitions",
  "paused-dag": "Paused Dags",
  "missed-events": "What paused Dags have missed",
  waiting: "Waiting for long",
  "request-paused": "Paused requests",
  concurrency: "Requests with more runs at a time than Airflow works on",
  orphans: "Partitions of older definitions",
};

/** The problems by kind, without kinds of which there are none. */
export const byKind = (problems: readonly Problem[]): readonly (readonly [Kind, readonly Problem[]])[] =>
  (Object.keys(headings) as Kind[])
    .map((kind) => [kind, problems.filter((problem) => problem.kind === kind)] as const)
    .filter(([, those]) => those.length > 0);

/** A diagnosis until the next one, once something of it is mended. */
export const without = (diagnosis: Diagnosis, mended: Problem): Diagnosis => ({
  ...diagnosis,
  problems: diagnosis.problems.filter((problem) => problem !== mended),
});
