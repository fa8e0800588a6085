import { Skeleton, Stack } from "@chakra-ui/react";

/** Holds the place of rows that are on their way, each as high as it will be. */
export const Loading = ({ rows = 3, height = "3rem" }: { readonly rows?: number; readonly height?: string }) => (
  <Stack gap={2} role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, row) => (
      <Skeleton key={row} height={height} width="100%" />
    ))}
  </Stack>
);
