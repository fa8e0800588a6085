import { QueryClientProvider } from "@tanstack/react-query";
import { useParams } from "react-router-dom";

import { Toasts } from "../page/toasts";
import { AssetTab } from "./AssetTab";
import { DagTab } from "./DagTab";
import { Faults } from "./Faults";
import { lacking } from "./host";
import { Pages } from "./Pages";
import { Plain } from "./Plain";
import { queryClient } from "../page/queries";

/** What Airflow's page tells the plugin of where it stands. */
type Place = { readonly dagId?: string };

const Content = ({ dagId }: Place) => {
  const { assetId } = useParams(); // of Airflow's own address; it hands over only the Dag
  if (dagId !== undefined) return <DagTab dagId={dagId} />;
  return assetId === undefined ? <Pages /> : <AssetTab id={assetId} />;
};

/** All of the view: a tab where Airflow names a Dag or an asset, else pages of its own. */
export const Plugin = ({ dagId }: Place) => {
  const missing = lacking();
  if (missing.length > 0) {
    return (
      <Plain title="This Airflow can’t show partitions">
        <p>
          Its page does not share what the view needs, or not in a version that fits: {missing.join(", ")}. The view
          works with Airflow 3.3.2 and newer; after an upgrade of Airflow, upgrade the package airflow-partitions, too.
        </p>
      </Plain>
    );
  }
  return (
    <Faults>
      <QueryClientProvider client={queryClient}>
        <Content {...(dagId === undefined ? {} : { dagId })} />
        <Toasts />
      </QueryClientProvider>
    </Faults>
  );
};
