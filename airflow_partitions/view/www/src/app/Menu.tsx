import { Box, Center, Flex } from "@chakra-ui/react";
import { NavLink, useLocation } from "react-router-dom";

import { paths } from "../page/paths";

const pages = [
  { name: "Assets", to: paths.overview(), below: `${paths.overview()}/assets/` },
  { name: "Board", to: paths.board(), below: `${paths.board()}/` },
  { name: "Requests", to: paths.requests(), below: `${paths.requests()}/` },
  { name: "Failures", to: paths.failures(), below: `${paths.failures()}/` },
  { name: "Doctor", to: paths.doctor(), below: `${paths.doctor()}/` },
];

/** Leads to the pages, as the tabs of Airflow's own pages do. */
export const Menu = () => {
  const { pathname } = useLocation();
  return (
    <Flex as="nav" aria-label="Partitions" borderBottomWidth={1} borderBottomColor="border.emphasized" mb={3}>
      {pages.map(({ name, to, below }) => {
        const current = pathname.replace(/\/$/, "") === to || pathname.startsWith(below);
        return (
          <NavLink key={name} to={to} end>
            <Center
              height={10}
              px={{ base: 0.5, md: 4 }}
              fontSize={{ base: "xs", sm: "sm", md: "md" }}
              mb="-1px"
              fontWeight="bold"
              color={current ? "fg" : "fg.muted"}
              _hover={{ color: "fg" }}
              position="relative"
            >
              {name}
              {current && <Box position="absolute" bottom={0} insetX={0} height="3px" bg="border.info" />}
            </Center>
          </NavLink>
        );
      })}
    </Flex>
  );
};
