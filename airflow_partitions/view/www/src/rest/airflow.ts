import { basePath } from "./base";
import { refused } from "./client";
import { Problem } from "./problem";

/** What Airflow's public API tells of a Dag, as far as the view needs it. */
export type Dag = { readonly dag_id: string; readonly is_paused: boolean };

/** Asks Airflow's own public API; what is refused is thrown as a `Problem`. */
const ask = async (path: string, init: RequestInit = {}): Promise<unknown> => {
  const response = await fetch(`${basePath()}api/v2/${path}`, {
    ...init,
    headers: { "Content-Type": "application/json", Accept: "application/json" },
  }).catch((error: unknown) => {
    throw error instanceof DOMException && error.name === "AbortError" ? error : new Problem(0, {});
  });
  if (!response.ok) throw await refused(response);
  return response.json();
};

const dagPath = (dag: string) => `dags/${encodeURIComponent(dag)}`;

/** A Dag as Airflow has it now. */
export const readDag = async (dag: string, signal: AbortSignal): Promise<Dag> =>
  (await ask(dagPath(dag), { signal })) as Dag;

/** Has Airflow begin runs of a Dag again. */
export const unpauseDag = async (dag: string): Promise<Dag> =>
  (await ask(`${dagPath(dag)}?update_mask=is_paused`, {
    method: "PATCH",
    body: JSON.stringify({ is_paused: false }),
  })) as Dag;

/** The name of the asset that has this number in Airflow's own addresses. */
export const readAssetName = async (id: string, signal: AbortSignal): Promise<string> =>
  ((await ask(`assets/${encodeURIComponent(id)}`, { signal })) as { readonly name: string }).name;
