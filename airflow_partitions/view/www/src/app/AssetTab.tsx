import { useQuery } from "@tanstack/react-query";

import { AssetView } from "../assets/AssetView";
import { readAssetName } from "../rest/airflow";
import { Answer } from "../page/Answer";
import { NoAnswer } from "./NoAnswer";

/** The partitions of the asset whose page of Airflow this is; `id` is Airflow's number of it. */
export const AssetTab = ({ id }: { readonly id: string }) => {
  const name = useQuery({
    queryKey: ["airflow", "asset", id],
    queryFn: ({ signal }) => readAssetName(id, signal),
    staleTime: Infinity,
  });
  return (
    <>
      <NoAnswer />
      <Answer query={name}>{(asset) => <AssetView asset={asset} />}</Answer>
    </>
  );
};
