import { useMemo } from "react";

import { written } from "../selection/text";
import type { Shown } from "../selection/usePicture";
import type { Arrangement } from "./useGrid";

/** Which partitions of an asset the address has shown, and how; the server takes axes where it names none. */
export const useArrangement = (
  asset: string,
  names: readonly string[],
  { across, down, search, only }: Shown,
): Arrangement => {
  const narrowed = JSON.stringify(
    Object.entries(only).filter(([name]) => names.includes(name) && name !== across && name !== down),
  );
  return useMemo(() => {
    const values = JSON.parse(narrowed) as [string, string][];
    return {
      asset,
      ...(across !== undefined && { across }),
      ...(down !== undefined && { down }),
      search,
      select: values.map(([name, value]) => `${name} in ${written(value)}`).join(" & "),
      only: Object.fromEntries(values),
    };
  }, [asset, across, down, search, narrowed]);
};
