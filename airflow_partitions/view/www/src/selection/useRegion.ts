import { useMemo, useState } from "react";

import type { Region } from "./region";
import { regionOf, regionText, type Frame } from "./text";

/**
 * The cells that a text selects, and what selects others.
 *
 * What somebody has typed only the server can read: `a,b` may be two keys, or the key of that name. Its own text for
 * the same keys (`canonical`) has quotes where they matter, and so has what is written here: that is painted at once.
 */
export const useRegion = (
  text: string,
  canonical: string | undefined,
  frame: Frame,
  onText: (text: string) => void,
): readonly [Region, (region: Region) => void] => {
  const [own, setOwn] = useState("");
  const readable = canonical ?? (text === own ? own : "");
  const region = useMemo(() => regionOf(readable, frame) ?? [], [readable, frame]);
  const select = (next: Region) => {
    const written = regionText(next, frame);
    setOwn(written);
    onText(written);
  };
  return [region, select];
};
