import { Button, Text } from "@chakra-ui/react";
import { useEffect } from "react";

import type { Sheet } from "./sheet";
import type { useGrid } from "./useGrid";

/** The most rows that come without being asked for. */
const BY_THEMSELVES = 2000;

/** How many of the rows are there; others come as one scrolls, or with a button. */
export const MoreRows = ({
  sheet: { picture, top, height, rowHeight },
  grid: { hasNextPage, isFetchingNextPage, fetchNextPage },
}: {
  readonly sheet: Sheet;
  readonly grid: ReturnType<typeof useGrid>;
}) => {
  const { length } = picture.rows;
  const near = top + height * 2 > length * rowHeight && length < BY_THEMSELVES;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && near) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, near, fetchNextPage]);
  if (length >= picture.rowCount) return null;
  return (
    <Text fontSize="sm" color="fg.muted" mt={1}>
      {length} of {picture.rowCount} rows{" "}
      {hasNextPage ? (
        <Button size="xs" variant="ghost" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          More
        </Button>
      ) : null}
    </Text>
  );
};
