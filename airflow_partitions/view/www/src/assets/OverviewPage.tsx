import { Button, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { counted } from "../page/amounts";
import { Answer } from "../page/Answer";
import { Loading } from "../page/Loading";
import { Page } from "../page/Page";
import { LIVE } from "../page/queries";
import { Trouble } from "../page/Trouble";
import { useTrouble } from "../page/useTrouble";
import { AssetRows } from "./AssetRows";
import { filtered, useFilters, type Filters } from "./filters";
import { FirstSteps } from "./FirstSteps";
import { byName, byTrouble } from "./health";
import { groups, type Group } from "./lineage";
import { listAssets, namesQuery, type Listed } from "./list";
import { OverviewFilters } from "./OverviewFilters";

/** The assets in the order that is asked for; along the graph in its groups, else all in one. */
const arranged = (assets: readonly Listed[], { by }: Filters): readonly Group[] => {
  if (by === "graph") return groups(assets);
  const order = [...assets].sort(by === "name" ? byName : byTrouble);
  return [order.map((asset) => ({ asset, level: 0, past: [], into: [], out: false }))];
};

const Overview = ({ assets }: { readonly assets: readonly Listed[] }) => {
  const [filters, onChange] = useFilters();
  const left = useMemo(() => filtered(assets, filters), [assets, filters]);
  const arrangement = useMemo(() => arranged(left, filters), [left, filters]);
  if (assets.length === 0) return <FirstSteps />;
  return (
    <>
      <OverviewFilters assets={assets} filters={filters} onChange={onChange} />
      {left.length > 0 ? (
        <AssetRows groups={arrangement} graph={filters.by === "graph"} />
      ) : (
        <Text color="fg.muted" py={4}>
          None of {counted(assets.length, "asset")} fits.{" "}
          <Button
            size="xs"
            variant="outline"
            onClick={() => onChange({ search: "", states: [], tags: [], owners: [] })}
          >
            Show all
          </Button>
        </Text>
      )}
    </>
  );
};

/** All partitioned assets that one may see: what is wrong first. */
export const OverviewPage = () => {
  const assets = useQuery({
    queryKey: ["assets"],
    queryFn: ({ signal }) => listAssets(true, signal),
    refetchInterval: LIVE,
  });
  const names = useQuery({ ...namesQuery, enabled: assets.data === undefined });
  const trouble = useTrouble(assets);
  const known = assets.data ?? names.data;
  return (
    <Page title={known === undefined ? "Assets" : counted(known.length, "partitioned asset")}>
      {trouble !== null && assets.data === undefined && names.data !== undefined ? <Trouble error={trouble} /> : null}
      <Answer
        query={assets.data === undefined && names.data !== undefined ? names : assets}
        loading={<Loading rows={10} />}
      >
        {(all) => <Overview assets={all} />}
      </Answer>
    </Page>
  );
};
