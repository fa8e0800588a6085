import { Box, Button, Flex, Link, Text } from "@chakra-ui/react";
import { Link as RouterLink } from "react-router-dom";

import { Actions } from "../actions/Actions";
import { FillButton } from "../actions/FillDialog";
import { counted } from "../page/amounts";
import { paths } from "../page/paths";
import { useFailed } from "../requests/failed";
import { FailedPartitions } from "../requests/FailedPartitions";
import { rest } from "../rest/client";
import { written } from "../selection/text";
import { totalOf } from "../states/state";
import { useReasons } from "../states/useReasons";
import { pickCounts, pickKey, pickText, pickTitle, stretchOf, type Board, type Pick } from "./board";
import { BoardPanel } from "./BoardPanel";

/** The key of the only partition that was picked, asked for where the slot does not say it. */
const useKey = (pick: Pick, text: string): string | undefined => {
  const own = pickKey(pick);
  const only = totalOf(pickCounts(pick)) === 1;
  const { data } = rest.useQuery(
    "get",
    "/api/v1/assets/{asset}/states",
    { params: { path: { asset: pick.line.strip.asset }, query: { select: text, limit: 1 } } },
    { enabled: only && own === undefined },
  );
  return own ?? (only ? data?.stretches[0]?.first : undefined);
};

/** Why one partition is what it is. */
const Reasons = ({ asset, partition }: { readonly asset: string; readonly partition: string }) => {
  const reasons = useReasons({ asset, partition });
  return (
    <Box fontSize="sm" minH={5}>
      {reasons?.map((reason) => (
        <Text key={reason} overflowWrap="anywhere">
          {reason}
        </Text>
      ))}
    </Box>
  );
};

/** What is in the cells that were picked, why, and what can be done with it, and with the others at that time. */
export const BoardPick = ({
  pick,
  board,
  assets,
  onClose,
}: {
  readonly pick: Pick;
  readonly board: Board;
  /** Those on the board that one may ask for. */
  readonly assets: readonly string[];
  readonly onClose: () => void;
}) => {
  const { strip, slots } = pick.line;
  const text = pickText(pick, written);
  const counts = pickCounts(pick);
  const key = useKey(pick, text);
  const of = { asset: strip.asset, selection: text === "all" ? null : text };
  const failed = useFailed(of, counts.failed ?? 0, { inOrder: slots !== null, atWork: false });
  const [first, last] = [slots?.[pick.from], slots?.[pick.until]];
  const part =
    first === undefined || last === undefined ? "" : `?start=${instant(first.start)}&end=${instant(last.end)}`;
  return (
    <BoardPanel
      title={
        <>
          <Link asChild color="fg.info">
            <RouterLink to={paths.asset(strip.asset)}>
              <bdi>{strip.asset}</bdi>
            </RouterLink>
          </Link>{" "}
          <bdi>{pickTitle(pick)}</bdi>
        </>
      }
      counts={counts}
      onClose={onClose}
    >
      {key === undefined ? null : <Reasons asset={strip.asset} partition={key} />}
      {key === undefined && (counts.failed ?? 0) > 0 ? <FailedPartitions of={of} failed={failed} /> : null}
      <Flex wrap="wrap" gap={2} mt={2} align="center">
        <Button asChild size="sm" variant="outline">
          <RouterLink to={key === undefined ? `${paths.asset(strip.asset)}${part}` : paths.partition(strip.asset, key)}>
            {key === undefined ? "Open in its picture" : "Open the partition"}
          </RouterLink>
        </Button>
        {totalOf(counts) === 0 ? null : <Actions asset={strip.asset} selection={text} mayChange={strip.may_change} />}
        {first === undefined || last === undefined || assets.length < 2 ? null : (
          <FillButton stretch={stretchOf(assets, first.start, last.end, board)}>
            {`Fill this time of ${counted(assets.length, "asset")}`}
          </FillButton>
        )}
      </Flex>
    </BoardPanel>
  );
};

const instant = (at: number): string => encodeURIComponent(new Date(at).toISOString());
