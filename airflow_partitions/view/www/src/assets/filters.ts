import { useMemo } from "react";

import { useAddress, type Values } from "../page/address";
import { isState, type State } from "../states/state";
import type { Listed } from "./list";

export const orders = ["trouble", "graph", "name"] as const;
export type Order = (typeof orders)[number];

/** Which assets are shown, and in which order; all of it stands in the address. */
export type Filters = {
  readonly search: string;
  readonly states: readonly State[];
  readonly tags: readonly string[];
  readonly owners: readonly string[];
  readonly by: Order;
};

const isOrder = (text: string | null): text is Order => orders.some((order) => order === text);

export const filtersOf = (address: URLSearchParams): Filters => {
  const by = address.get("by");
  return {
    search: address.get("search") ?? "",
    states: address.getAll("state").filter(isState),
    tags: address.getAll("tag"),
    owners: address.getAll("owner"),
    by: isOrder(by) ? by : "trouble",
  };
};

/** What stands in the address for filters: nothing for what is as usual. */
export const valuesOf = ({ search, states, tags, owners, by }: Filters): Values => ({
  search: search === "" ? null : search,
  state: states,
  tag: tags,
  owner: owners,
  by: by === "trouble" ? null : by,
});

const anyOf = (chosen: readonly string[], values: readonly string[]): boolean =>
  chosen.length === 0 || chosen.some((value) => values.includes(value));

/** Those of the assets that the filters leave: of each kind of filter, one value has to fit. */
export const filtered = (assets: readonly Listed[], { search, states, tags, owners }: Filters): readonly Listed[] => {
  const text = search.toLowerCase();
  return assets.filter(
    (asset) =>
      asset.name.toLowerCase().includes(text) &&
      (states.length === 0 ||
        asset.counting ||
        asset.error != null ||
        states.some((state) => (asset.counts[state] ?? 0) > 0)) &&
      anyOf(tags, asset.tags) &&
      anyOf(owners, asset.owners),
  );
};

/** The filters of the address, and what changes them there. */
export const useFilters = (): readonly [Filters, (change: Partial<Filters>) => void] => {
  const [address, put] = useAddress();
  const filters = useMemo(() => filtersOf(address), [address]);
  return [filters, (change) => put(valuesOf({ ...filters, ...change }))];
};

/** A list with a value more, or without it where it was there. */
export const toggled = <T>(values: readonly T[], value: T): readonly T[] =>
  values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
