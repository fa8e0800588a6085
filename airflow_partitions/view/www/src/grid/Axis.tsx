import { Box } from "@chakra-ui/react";

import { timeTicks, type Tick } from "./axis";
import { placeX } from "./drawGrid";
import type { Picture } from "./picture";
import { lengthOf, type Span } from "./view";

const valueTicks = (picture: Picture, view: Span, width: number): readonly Tick[] => {
  const apart = Math.max(1, Math.ceil(70 / (width / lengthOf(view))));
  return picture.columns
    .filter((_, i) => i % apart === 0)
    .filter(({ start, end }) => end > view.start && start < view.end)
    .map(({ first, start }) => ({ at: start, text: first ?? "", strong: false }));
};

/** The dates, or values, above the columns. */
export const Axis = ({
  picture,
  view,
  width,
  zone,
}: {
  readonly picture: Picture;
  readonly view: Span;
  readonly width: number;
  readonly zone: string | null;
}) => {
  const ticks =
    zone === null
      ? valueTicks(picture, view, width)
      : timeTicks(view.start, view.end, (lengthOf(view) / width) * 64, zone);
  return (
    <Box position="relative" height="24px" overflow="hidden" aria-hidden fontSize="xs" userSelect="none">
      {ticks.map(({ at, text, strong }) => (
        <Box
          key={at}
          position="absolute"
          left={`${placeX(at, view, width)}px`}
          bottom={0}
          pl={1}
          height="100%"
          borderLeftWidth="1px"
          whiteSpace="nowrap"
          maxWidth="12em"
          truncate
          dir="auto"
          color={strong ? "fg" : "fg.muted"}
          fontWeight={strong ? "semibold" : "normal"}
          borderColor={strong ? "border.emphasized" : "border"}
        >
          {text}
        </Box>
      ))}
    </Box>
  );
};
