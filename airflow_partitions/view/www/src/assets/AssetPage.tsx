import { useNames } from "../page/names";
import { Page } from "../page/Page";
import { paths } from "../page/paths";
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
