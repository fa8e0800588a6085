import { Box } from "@chakra-ui/react";
import { Route, Routes } from "react-router-dom";

import { AssetPage } from "../assets/AssetPage";
import { OverviewPage } from "../assets/OverviewPage";
import { BoardPage } from "../board/BoardPage";
import { DoctorPage } from "../doctor/DoctorPage";
import { FailuresPage } from "../failures/FailuresPage";
import { PartitionPage } from "../partition/PartitionPage";
import { RequestPage } from "../requests/RequestPage";
import { RequestsPage } from "../requests/RequestsPage";
import { Menu } from "./Menu";
import { NoAnswer } from "./NoAnswer";
import { NoPage } from "./NoPage";

/** The pages of the view and what leads from one to the other. */
export const Pages = () => (
  <Box px={2} pb={8} overflowY="auto" height="100%" data-scroll>
    <Menu />
    <NoAnswer />
    <Routes>
      <Route index element={<OverviewPage />} />
      <Route path="board" element={<BoardPage />} />
      <Route path="assets/:asset" element={<AssetPage />} />
      <Route path="assets/:asset/partitions/:key" element={<PartitionPage />} />
      <Route path="requests" element={<RequestsPage />} />
      <Route path="requests/:request" element={<RequestPage />} />
      <Route path="failures" element={<FailuresPage />} />
      <Route path="doctor" element={<DoctorPage />} />
      <Route path="*" element={<NoPage />} />
    </Routes>
  </Box>
);
