import { Box } from "@chakra-ui/react";

import { metadataText } from "./metadataText";
import type { Row } from "./picture";
import { useMetadata } from "./useMetadata";

/** So many rows are asked for at once, whichever of them are seen. */
const TILE = 20;

/** What was kept with the keys of the rows that are seen; all of it when pointed at. */
export const RowMetadata = ({
  asset,
  rows,
  left,
  height,
  rowHeight,
  top,
}: {
  readonly asset: string;
  readonly rows: readonly Row[];
  readonly left: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly top: number;
}) => {
  const first = Math.floor(top / rowHeight / TILE) * TILE;
  const last = Math.ceil((top + height) / rowHeight / TILE) * TILE;
  const keys = rows.slice(first, last).flatMap(({ value }) => value ?? []);
  const metadata = useMetadata(asset, keys);
  return keys.map((key, i) => {
    const text = metadataText(metadata.get(key));
    return text === "" ? null : (
      <Box
        key={key}
        position="absolute"
        left={`${left}px`}
        right={0}
        top={`${(first + i) * rowHeight}px`}
        height={`${rowHeight}px`}
        lineHeight={`${rowHeight}px`}
        fontSize="sm"
        color="fg.muted"
        truncate
        title={JSON.stringify(metadata.get(key), null, 2)}
      >
        <bdi>{text}</bdi>
      </Box>
    );
  });
};
