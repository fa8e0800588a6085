/** Addresses of the pages: each state of a page has one. */
const root = "/plugin/partitions";
const name = encodeURIComponent;

export const paths = {
  overview: () => root,
  board: () => `${root}/board`,
  asset: (asset: string) => `${root}/assets/${name(asset)}`,
  partition: (asset: string, key: string) => `${root}/assets/${name(asset)}/partitions/${name(key)}`,
  requests: () => `${root}/requests`,
  request: (id: number) => `${root}/requests/${id}`,
  failures: () => `${root}/failures`,
  doctor: () => `${root}/doctor`,
  /** Pages of Airflow's own. */
  dag: (dag: string) => `/dags/${name(dag)}`,
  run: (dag: string, run: string) => `/dags/${name(dag)}/runs/${name(run)}`,
  task: (dag: string, run: string, task: string) => `/dags/${name(dag)}/runs/${name(run)}/tasks/${name(task)}`,
};
