import { useNames } from "../app/names";
import { Page } from "../app/Page";
import { paths } from "../app/paths";
import { AssetView } from "./AssetView";

/** The page of one asset. */
export const AssetPage = () => {
  const { asset } = useNames();
  return (
    <Page title={asset} crumbs={[{ name: "Assets", to: paths.overview() }]}>
      <AssetView key={asset} asset={asset} />
    </Page>
  );
};
