import { useEffect, useState } from "react";

import type { Span } from "./view";

const PAUSE = 120;

/** The view as it was when it last stood still for a moment. */
export const useSettled = (view: Span | null): Span | null => {
  const [settled, setSettled] = useState(view);
  const { start, end } = view ?? {};
  useEffect(() => {
    const next = start === undefined || end === undefined ? null : { start, end };
    const timer = setTimeout(() => setSettled(next), PAUSE);
    return () => clearTimeout(timer);
  }, [start, end]);
  return settled ?? view;
};
