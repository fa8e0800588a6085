import { looks, type Look } from "../states/state";

const solid = (token: string) => ({ area: `${token}.solid`, ink: `${token}.contrast` });
const faint = { area: "none.emphasized", ink: "none.fg" };

/** Airflow's states of tasks in Airflow's colours, what is worst first; marks as those of partitions where they mean the same. */
const taskLooks: Readonly<Record<string, Look>> = {
  failed: { ...looks.failed, meaning: "Its newest try failed" },
  upstream_failed: {
    ...solid("upstream_failed"),
    meaning: "It did not begin, since a task before it failed",
    path: "M8 3.5 13 12.5H3z",
    filled: true,
  },
  up_for_retry: {
    ...solid("up_for_retry"),
    meaning: "A try failed, and the next one is to come",
    path: "M11.8 6A4.3 4.3 0 1 0 12.3 8.6M12 3v3.2H8.8",
    filled: false,
  },
  restarting: { ...solid("restarting"), meaning: "It is begun anew", path: "M4.5 8h7M8 4.5v7", filled: false },
  running: { ...looks.running, meaning: "It is at work" },
  awaiting_input: {
    ...solid("awaiting_input"),
    meaning: "It waits for an answer of somebody",
    path: "M5.8 6.2a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .7-1 1.4M8 12v.1",
    filled: false,
  },
  deferred: { ...looks.waiting, meaning: "It waits for something outside, and holds no worker" },
  up_for_reschedule: {
    ...solid("up_for_reschedule"),
    meaning: "It looks again later whether it may go on",
    path: "M8 3.6a4.4 4.4 0 1 1 0 8.8a4.4 4.4 0 1 1 0-8.8zM8 5.8v2.6l1.8 1.2",
    filled: false,
  },
  queued: { ...looks.queued, meaning: "It has yet to begin" },
  scheduled: { ...solid("scheduled"), meaning: "It is to be queued", path: "M6 4.5v7M10 4.5v7", filled: false },
  removed: { ...faint, meaning: "Its Dag had it no more when the run was at work", path: "M4.5 8h7", filled: false },
  skipped: { ...looks.skipped, meaning: "It was skipped" },
  success: { ...looks.materialized, meaning: "It succeeded" },
};

/** Of a task of which nothing was decided yet. */
const undecided: Look = {
  ...faint,
  meaning: "Nothing was decided of it yet",
  path: "M6.8 6.8h2.4v2.4H6.8z",
  filled: true,
};

/** A task that no run is known of, or that the run does not have. */
export const noRun: Look = {
  area: "transparent",
  ink: "border.emphasized",
  meaning: "No run is known, or it does not have the task",
  path: "M1.5 1.5h13v13h-13z",
  filled: false,
};

/** How a state of a task looks; one that only a later Airflow has, by its name alone. */
export const lookOf = (state: string | null): Look =>
  state === null ? undecided : (taskLooks[state] ?? { ...undecided, meaning: state });

/** "up for retry" */
export const stateWords = (state: string | null): string => (state === null ? "not begun" : state.replaceAll("_", " "));

/** States, what is worst first. */
export const inOrder = (states: Iterable<string | null>): readonly (string | null)[] => {
  const order = [...Object.keys(taskLooks).filter((state) => state !== "success"), null, "success"];
  return [...states].sort((one, other) => order.indexOf(one) - order.indexOf(other));
};
