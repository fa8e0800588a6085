import { useEffect, useState } from "react";

import { putInAddress, useAddress } from "../page/address";
import type { Span } from "../grid/view";
import { isState, type State } from "../states/state";

/** How long a view stands still before it is put into the address, in milliseconds. */
const PAUSE = 400;

/** Before the name of a dimension of which one value is shown. */
const ONLY = "only.";

const viewOf = (parameters: URLSearchParams): Span | null => {
  const [start, end] = ["start", "end"].map((name) => Date.parse(parameters.get(name) ?? ""));
  return start !== undefined && end !== undefined && start < end ? { start, end } : null;
};

/** What of an asset's partitions is shown and selected; the address says it, so that each has a link. */
export const usePicture = () => {
  const [parameters, put] = useAddress();
  const [view, setView] = useState(() => viewOf(parameters));
  useEffect(() => {
    const text = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
    const timer = setTimeout(() => putInAddress({ start: text(view?.start), end: text(view?.end) }), PAUSE);
    return () => clearTimeout(timer);
  }, [view]);
  const only: Readonly<Record<string, string>> = Object.fromEntries(
    [...parameters].flatMap(([name, value]) => (name.startsWith(ONLY) ? [[name.slice(ONLY.length), value]] : [])),
  );
  return {
    view,
    setView,
    select: parameters.get("select") ?? "",
    onSelect: (text: string) => put({ select: text || null }),
    states: (parameters.get("states") ?? "").split(",").filter(isState),
    onStates: (chosen: readonly State[]) => put({ states: chosen.join(",") || null }),
    across: parameters.get("across") ?? undefined,
    down: parameters.get("down") ?? undefined,
    onArrange: (across: string, down: string) => put({ across, down, select: null }),
    search: parameters.get("search") ?? "",
    onSearch: (text: string) => put({ search: text || null }),
    only,
    onOnly: (name: string, value: string) => put({ [ONLY + name]: value || null, select: null }),
    table: parameters.has("table"),
    /** Select something, and list it. */
    onList: (text: string) => put({ select: text, table: "" }),
    onTable: (shown: boolean) => put({ table: shown ? "" : null }),
  };
};
