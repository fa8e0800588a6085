import { Button, ButtonGroup, Text, Wrap } from "@chakra-ui/react";

import { lengthOf, newest, zoomed, type Bounds, type Span } from "./view";
import { momentText } from "./zone";

/** Buttons that zoom, and in words what is seen. */
export const Zoom = ({
  view,
  shown,
  bounds,
  zone,
  unit,
  onView,
}: {
  readonly view: Span;
  /** From when until when the columns in view are. */
  readonly shown: Span;
  readonly bounds: Bounds;
  readonly zone: string;
  readonly unit: string | null;
  readonly onView: (view: Span) => void;
}) => {
  const middle = (view.start + view.end) / 2;
  const all = lengthOf(view) >= lengthOf(bounds);
  return (
    <Wrap align="center" gap={3}>
      <ButtonGroup
        size="xs"
        variant="outline"
        attached
        title="Control and the wheel zoom, too; Shift and the wheel move"
      >
        <Button aria-label="Zoom out" disabled={all} onClick={() => onView(zoomed(view, 2, middle, bounds))}>
          −
        </Button>
        <Button
          aria-label="Zoom in"
          disabled={lengthOf(view) <= bounds.least}
          onClick={() => onView(zoomed(view, 0.5, middle, bounds))}
        >
          +
        </Button>
        <Button disabled={all} onClick={() => onView({ start: bounds.start, end: bounds.end })}>
          All
        </Button>
        <Button disabled={view.end >= bounds.end} onClick={() => onView(newest(bounds, lengthOf(view)))}>
          Newest
        </Button>
      </ButtonGroup>
      <Text
        fontSize="sm"
        color="fg.muted"
        flexBasis={{ base: "full", md: "auto" }}
        minH={{ base: "42px", md: "auto" }} // the place of two lines, so that nothing below moves
      >
        {momentText(shown.start, zone)} – {momentText(shown.end, zone)} · {zone}
        {unit === null || unit === "interval" ? "" : ` · a column is ${/^\d/.test(unit) ? unit : `a ${unit}`}`}
      </Text>
    </Wrap>
  );
};
