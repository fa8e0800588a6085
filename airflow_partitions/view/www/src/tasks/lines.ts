import { counted, duration } from "../page/amounts";
import { paths } from "../page/paths";
import type { components } from "../rest/schema";
import { stateWords } from "./taskState";

type Matrix = components["schemas"]["TaskMatrix"];
export type TaskCell = components["schemas"]["TaskCell"];
export type TaskPartition = components["schemas"]["TaskPartition"];
type Run = components["schemas"]["TaskRun"];

/** A task, partition by partition. */
export type Line = {
  readonly dag: string;
  readonly task: string;
  /** The newest run of its Dag for each partition. */
  readonly runs: readonly (Run | null)[];
  readonly cells: readonly (TaskCell | null)[];
};

/** The tasks of all Dags, Dag by Dag. */
export const linesOf = ({ dags }: Matrix): readonly Line[] =>
  dags.flatMap(({ dag_id: dag, runs, tasks }) => tasks.map(({ task_id: task, cells }) => ({ dag, task, runs, cells })));

/** Airflow's own page of a task in a run; `null` where there is none. */
export const pathOf = ({ dag, task, runs, cells }: Line, column: number): string | null => {
  const [run, cell] = [runs[column], cells[column]];
  if (run == null || cell == null) return null;
  const path = paths.task(dag, run.run_id, task);
  return cell.instances == null ? path : `${path}/mapped`;
};

/** What is to be said of a task in a run besides its state: instances, tries, how long it took. */
export const details = ({ tries, seconds, instances }: TaskCell): readonly string[] => [
  ...(instances == null ? [] : [counted(instances, "instance")]),
  ...(tries > 0 ? [tries === 1 ? "1 try" : `${String(tries)} tries`] : []),
  ...(seconds === null ? [] : [duration(seconds)]),
];

/** All of a cell in one line. */
export const cellWords = (line: Line, { key }: TaskPartition, column: number): string => {
  const cell = line.cells[column];
  return [line.task, key, ...(cell == null ? ["no run"] : [stateWords(cell.state), ...details(cell)])].join(", ");
};
