import { useEffect, useState } from "react";

import { putInAddress, useAddress } from "../page/address";
import type { Span } from "../grid/view";
import { isState, type State } from "../states/state";
import { isValue, type Value } from "../values/value";

/** How long a view stands still before it is put into the address, in milliseconds. */
const PAUSE = 400;

/** In what partitions are shown instead of one picture of all. */
const FORMS = ["table", "calendar", "tasks"] as const;
export type Form = (typeof FORMS)[number];
export const isForm = (text: string): text is Form => FORMS.some((form) => form === text);

/** Before the name of a dimension of which one value is shown. */
const ONLY = "only.";

/** What shows partitions in one form and in no other. */
const inForm = (form: Form | null) => Object.fromEntries(FORMS.map((one) => [one, one === form ? "" : null]));

const viewOf = (parameters: URLSearchParams): Span | null => {
  const [start, end] = ["start", "end"].map((name) => Date.parse(parameters.get(name) ?? ""));
  return start !== undefined && end !== undefined && start < end ? { start, end } : null;
};

/** Values of dimensions of which one alone is shown, by the names of these. */
const onlyOf = (parameters: URLSearchParams): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...parameters].flatMap(([name, value]) => (name.startsWith(ONLY) ? [[name.slice(ONLY.length), value]] : [])),
  );

/** Whether an address shows one value alone of some dimension. */
export const isNarrowed = (parameters: URLSearchParams): boolean => Object.keys(onlyOf(parameters)).length > 0;

/** What of an asset's partitions is shown and selected; the address says it, so that each has a link. */
export const usePicture = () => {
  const [parameters, put] = useAddress();
  const [view, setView] = useState(() => viewOf(parameters));
  useEffect(() => {
    const text = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
    const timer = setTimeout(() => putInAddress({ start: text(view?.start), end: text(view?.end) }), PAUSE);
    return () => clearTimeout(timer);
  }, [view]);
  const only = onlyOf(parameters);
  const value = parameters.get("value") ?? "";
  return {
    view,
    setView,
    select: parameters.get("select") ?? "",
    onSelect: (text: string) => put({ select: text || null, before: null }),
    states: (parameters.get("states") ?? "").split(",").filter(isState),
    onStates: (chosen: readonly State[]) => put({ states: chosen.join(",") || null }),
    across: parameters.get("across") ?? undefined,
    down: parameters.get("down") ?? undefined,
    /** Also which values alone to show, of dimensions that are neither. */
    onArrange: (across: string, down: string, values: Readonly<Record<string, string>> = {}) =>
      put({
        across,
        down,
        ...Object.fromEntries(Object.entries(values).map(([name, value]) => [ONLY + name, value || null])),
        select: null,
      }),
    search: parameters.get("search") ?? "",
    onSearch: (text: string) => put({ search: text || null }),
    only,
    value: isValue(value) ? value : null,
    onValue: (chosen: Value | null) => put({ value: chosen }),
    /** The key before which the partitions are whose tasks are shown; `null` for the newest. */
    before: parameters.get("before"),
    onBefore: (key: string | null) => put({ before: key }),
    form: FORMS.find((form) => parameters.has(form)) ?? null,
    /** Select something, and list it. */
    onList: (text: string) => put({ select: text, ...inForm("table") }),
    onForm: (form: Form | null) => put({ before: null, ...inForm(form) }),
  };
};

/** What is shown and selected, and what changes it. */
export type Shown = ReturnType<typeof usePicture>;
