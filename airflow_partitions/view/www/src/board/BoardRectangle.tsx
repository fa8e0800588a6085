import { Flex, Text } from "@chakra-ui/react";

import { FillButton } from "../actions/FillDialog";
import { counted } from "../page/amounts";
import { stretchOf, type Board } from "./board";
import { BoardPanel } from "./BoardPanel";
import { fillOf, rectangleCounts, rectangleTime, type Rectangle } from "./rectangle";

/** What is in a rectangle of assets and time, and a way to fill exactly that. */
export const BoardRectangle = ({
  rectangle,
  board,
  onClose,
}: {
  readonly rectangle: Rectangle;
  readonly board: Board;
  readonly onClose: () => void;
}) => {
  const { count, assets, leftOut } = fillOf(rectangle);
  const { start, end } = rectangle;
  return (
    <BoardPanel
      title={`${counted(count, "asset")}, ${rectangleTime(rectangle, board)} (${board.timezone})`}
      counts={rectangleCounts(rectangle)}
      onClose={onClose}
    >
      {leftOut.length > 0 ? (
        <Text fontSize="sm" color="fg.muted">
          Left out of the fill: {leftOut.join(", ")}.
        </Text>
      ) : null}
      <Flex mt={2}>
        <FillButton stretch={assets.length === 0 ? null : stretchOf(assets, start, end, board)}>
          {`Fill ${counted(assets.length, "asset")}…`}
        </FillButton>
      </Flex>
    </BoardPanel>
  );
};
