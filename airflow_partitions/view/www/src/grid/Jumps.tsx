import { Button, ButtonGroup } from "@chakra-ui/react";
import { useMemo } from "react";

import type { State } from "../states/state";
import { jumped } from "./jump";
import type { Picture } from "./picture";
import type { Bounds, Span } from "./view";

const SIDES = ["before", "after"] as const;

/** Leads to what is not in view of the states that are shown. */
export const Jumps = ({
  picture,
  states,
  view,
  bounds,
  onView,
}: {
  /** Of all partitions. */
  readonly picture: Picture;
  readonly states: ReadonlySet<State>;
  readonly view: Span;
  readonly bounds: Bounds;
  readonly onView: (view: Span) => void;
}) => {
  const words = [...states].join(" or ");
  const views = useMemo(
    () => SIDES.map((side) => jumped(picture, states, view, bounds, side)),
    [picture, states, view, bounds],
  );
  return (
    <ButtonGroup size="xs" variant="outline" attached>
      {SIDES.map((side, i) => {
        const next = views[i] ?? null;
        return (
          <Button key={side} disabled={next === null} onClick={() => next && onView(next)}>
            {side === "before" ? `‹ Earlier ${words}` : `Later ${words} ›`}
          </Button>
        );
      })}
    </ButtonGroup>
  );
};
