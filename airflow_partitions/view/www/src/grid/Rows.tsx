import { Box } from "@chakra-ui/react";
import { useRef, type ComponentProps } from "react";

import { Cells } from "./Cells";
import { RowLabels } from "./RowLabels";
import { RowMetadata } from "./RowMetadata";

/** Of the only cell of a row and the name of its state. */
const CELL_AND_STATE = 172;
/** What was kept with a key has room for some letters, or is not shown. */
const LEAST_METADATA = 60;

/** The rows of a picture, which scroll: their names, their cells, and what was kept with keys that runs know. */
export const Rows = ({
  asset,
  labels,
  metadata,
  onTop,
  ...cells
}: {
  readonly asset: string;
  /** Width of the names. */
  readonly labels: number;
  /** Whether something was kept with the keys. */
  readonly metadata: boolean;
  readonly onTop: (top: number) => void;
} & Omit<ComponentProps<typeof Cells>, "label" | "onReveal">) => {
  const scroller = useRef<HTMLDivElement>(null);
  const { picture, width, height, rowHeight, top } = cells.sheet;
  const total = picture.rows.length * rowHeight;
  const reveal = (row: number) => {
    const box = scroller.current;
    if (box === null) return;
    if (row * rowHeight < box.scrollTop) box.scrollTop = row * rowHeight;
    else if ((row + 1) * rowHeight > box.scrollTop + height) box.scrollTop = (row + 1) * rowHeight - height;
  };
  return (
    <Box
      ref={scroller}
      maxHeight={`${height}px`}
      overflowY={total > height ? "auto" : "visible"}
      overflowX="clip"
      style={{ scrollbarWidth: "thin" }}
      onScroll={(event) => onTop(event.currentTarget.scrollTop)}
    >
      <Box position="relative" height={`${Math.max(total, rowHeight)}px`}>
        {labels > 0 ? (
          <RowLabels picture={picture} width={labels} height={height} rowHeight={rowHeight} top={top} />
        ) : null}
        <Box position="sticky" top={0} ml={`${labels}px`} height={`${height}px`}>
          <Cells {...cells} label={`Partitions of ${asset}`} onReveal={reveal} />
        </Box>
        {metadata && picture.across === null && width > CELL_AND_STATE + LEAST_METADATA ? (
          <RowMetadata
            asset={asset}
            rows={picture.rows}
            left={labels + CELL_AND_STATE}
            height={height}
            rowHeight={rowHeight}
            top={top}
          />
        ) : null}
      </Box>
    </Box>
  );
};
