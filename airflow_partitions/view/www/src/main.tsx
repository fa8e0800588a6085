/** The component that Airflow's page loads: as a page of its own, and as a tab of a Dag. */
export { Plugin as default } from "./app/Plugin";
