import { Portal, Stack } from "@chakra-ui/react";
import { useLayoutEffect, useRef, type ReactNode, type RefObject } from "react";

const WIDTH = 300;
const GAP = 8;

/** Where a note stands: in what, and at the middle and the upper edge of which part of it. */
export type NotePlace = {
  readonly area: RefObject<HTMLElement | null>;
  readonly x: number;
  readonly y: number;
  readonly height: number;
};

/** What is said of a part of a picture, beside it and within the window; it takes no clicks. */
export const Note = ({ area, x, y, height, children }: NotePlace & { readonly children: ReactNode }) => {
  const note = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = note.current;
    const around = area.current?.getBoundingClientRect();
    if (element === null || around === undefined) return;
    const left = around.left + x - WIDTH / 2;
    const below = around.top + y + height + GAP;
    const above = around.top + y - GAP - element.offsetHeight;
    element.style.left = `${Math.max(GAP, Math.min(left, window.innerWidth - WIDTH - GAP))}px`;
    element.style.top = `${below + element.offsetHeight > window.innerHeight && above > 0 ? above : below}px`;
  });
  return (
    <Portal>
      <Stack
        ref={note}
        position="fixed"
        width={`${WIDTH}px`}
        zIndex="popover"
        pointerEvents="none"
        aria-hidden
        gap={1}
        p={3}
        bg="bg.panel"
        borderWidth="1px"
        borderRadius="md"
        shadow="md"
        fontSize="sm"
      >
        {children}
      </Stack>
    </Portal>
  );
};
