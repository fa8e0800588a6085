import { Box } from "@chakra-ui/react";

import type { Picture } from "./picture";

/** The names of the rows that are seen. */
export const RowLabels = ({
  picture,
  width,
  height,
  rowHeight,
  top,
}: {
  readonly picture: Picture;
  readonly width: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly top: number;
}) => {
  const first = Math.max(0, Math.floor(top / rowHeight) - 4);
  return (
    <Box aria-hidden>
      {picture.rows.slice(first, Math.ceil((top + height) / rowHeight) + 4).map(({ value }, i) => (
        <Box
          key={value}
          position="absolute"
          left={0}
          top={`${(first + i) * rowHeight}px`}
          width={`${width}px`}
          height={`${rowHeight}px`}
          lineHeight={`${rowHeight}px`}
          pe={3}
          fontSize="sm"
          truncate
          title={value ?? undefined}
        >
          <bdi>{value}</bdi>
        </Box>
      ))}
    </Box>
  );
};
