import { askAhead } from "./app/ahead";
import { lacking } from "./app/host";
import { queryClient } from "./page/queries";

/** The component that Airflow's page loads: as a page of its own, and as a tab of a Dag. */
export { Plugin as default } from "./app/Plugin";

if (lacking().length === 0) askAhead(queryClient, new URL(window.location.href));
