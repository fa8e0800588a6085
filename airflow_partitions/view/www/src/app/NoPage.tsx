import { Link, Text } from "@chakra-ui/react";
import { Link as RouterLink } from "react-router-dom";

import { Page } from "../page/Page";
import { paths } from "../page/paths";

/** What an address shows that leads nowhere. */
export const NoPage = () => (
  <Page title="No such page">
    <Text>
      Nothing is at this address.{" "}
      <Link asChild colorPalette="blue" variant="underline">
        <RouterLink to={paths.overview()}>All assets</RouterLink>
      </Link>
    </Text>
  </Page>
);
