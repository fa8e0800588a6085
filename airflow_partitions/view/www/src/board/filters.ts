import { useMemo } from "react";

import { OF_ALL } from "../assets/list";
import { useAddress } from "../page/address";
import { isState, type State } from "../states/state";
import { lengths, type Days, type Period, type Strip } from "./board";

/** Which assets of a board are shown; all of it stands in the address. */
export type BoardFilters = {
  readonly search: string;
  readonly states: readonly State[];
  readonly tags: readonly string[];
  readonly owners: readonly string[];
  readonly groups: readonly string[];
  readonly dags: readonly string[];
};

const isDays = (days: number): days is Days => Object.hasOwn(lengths, days);

const kinds = ["tag", "owner", "group", "dag"] as const;

export const NONE: BoardFilters = { search: "", states: [], tags: [], owners: [], groups: [], dags: [] };

/** The tags of an asset, without the one that each Dag of a partitioned asset has by itself. */
export const tagsOf = ({ tags }: Strip): readonly string[] => tags.filter((tag) => tag !== OF_ALL);

const anyOf = (chosen: readonly string[], values: readonly string[]): boolean =>
  chosen.length === 0 || chosen.some((value) => values.includes(value));

/** The assets around some Dags: that they make, that they wait for, and that are made of what they make. */
const around = (strips: readonly Strip[], dags: readonly string[]): ReadonlySet<string> => {
  const made = strips.filter(({ producers }) => anyOf(dags, producers));
  const names = new Set(made.map(({ asset }) => asset));
  const below = strips.filter(({ upstream }) => upstream.some((name) => names.has(name)));
  return new Set([...names, ...made.flatMap(({ upstream }) => upstream), ...below.map(({ asset }) => asset)]);
};

/** Those of the assets that the filters leave: of each kind of filter, one value has to fit. */
export const shownStrips = (strips: readonly Strip[], filters: BoardFilters): ReadonlySet<Strip> => {
  const { search, states, tags, owners, groups, dags } = filters;
  const text = search.toLowerCase();
  const near = dags.length === 0 ? null : around(strips, dags);
  return new Set(
    strips.filter(
      (strip) =>
        strip.asset.toLowerCase().includes(text) &&
        (states.length === 0 || strip.error !== null || states.some((state) => (strip.counts[state] ?? 0) > 0)) &&
        anyOf(tags, strip.tags) &&
        anyOf(owners, strip.owners) &&
        anyOf(groups, [strip.group]) &&
        (near === null || near.has(strip.asset)),
    ),
  );
};

/** The period that an address says. */
export const periodOf = (address: URLSearchParams): Period => {
  const days = Number(address.get("days"));
  const until = address.get("until");
  return {
    days: isDays(days) ? days : 30,
    until: until !== null && !Number.isNaN(Date.parse(until)) ? until : null,
  };
};

/** The period and the filters of the address, and what changes them there. */
export const useBoardAddress = () => {
  const [address, put] = useAddress();
  const filters = useMemo<BoardFilters>(
    () => ({
      search: address.get("search") ?? "",
      states: address.getAll("state").filter(isState),
      tags: address.getAll("tag"),
      owners: address.getAll("owner"),
      groups: address.getAll("group"),
      dags: address.getAll("dag"),
    }),
    [address],
  );
  return {
    period: periodOf(address),
    onPeriod: (next: Period) => put({ days: next.days === 30 ? null : String(next.days), until: next.until }),
    filters,
    onFilters: (change: Partial<BoardFilters>) => {
      const next = { ...filters, ...change };
      const values = [next.tags, next.owners, next.groups, next.dags];
      put({
        search: next.search === "" ? null : next.search,
        state: next.states,
        ...Object.fromEntries(kinds.map((kind, place) => [kind, values[place] ?? []])),
      });
    },
  };
};
