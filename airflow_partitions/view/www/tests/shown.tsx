import { ChakraProvider, defaultSystem } from "@chakra-ui/react";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";
import { MemoryRouter, useLocation } from "react-router-dom";

const Address = () => {
  const { pathname, search } = useLocation();
  return <output data-testid="address">{pathname + search}</output>;
};

/** Renders a part of the view as Airflow's page does: with its theme, at an address, and with a cache. */
export const shown = (
  content: ReactNode,
  at = "/plugin/partitions",
  queries = new QueryClient({ defaultOptions: { queries: { retry: false } } }),
) =>
  render(
    <ChakraProvider value={defaultSystem}>
      <QueryClientProvider client={queries}>
        <MemoryRouter initialEntries={[at]}>
          {content}
          <Address />
        </MemoryRouter>
      </QueryClientProvider>
    </ChakraProvider>,
  );
