import { byName, byTrouble } from "./health";
import type { Listed } from "./list";

/** An asset on its row of a group: how deep it is, and the lines that lead past and to it, each by the depth it is at. */
export type Placed = {
  readonly asset: Listed;
  readonly level: number;
  /** Of lines that go on to later rows. */
  readonly past: readonly number[];
  /** Of lines that end here. */
  readonly into: readonly number[];
  /** Whether a line begins here. */
  readonly out: boolean;
};

/** Assets that are made of each other, upstream first. */
export type Group = readonly Placed[];

type Neighbours = ReadonlyMap<string, readonly Listed[]>;

/** Of each asset those downstream of it, among `assets`; `upstream` names what it is made of. */
const downstreamOf = (assets: readonly Listed[]): Neighbours => {
  const downstream = new Map<string, Listed[]>(assets.map(({ name }) => [name, []]));
  for (const asset of assets) for (const name of asset.upstream) downstream.get(name)?.push(asset);
  return downstream;
};

/** Upstream first, and what is made of an asset close below it; what is in a circle comes last, by name. */
const inOrder = (assets: readonly Listed[], downstream: Neighbours): readonly Listed[] => {
  const lacking = new Map(assets.map(({ name }) => [name, 0]));
  for (const { name } of assets)
    for (const below of downstream.get(name) ?? []) lacking.set(below.name, (lacking.get(below.name) ?? 0) + 1);
  const last = (one: Listed, other: Listed) => byName(other, one);
  const ready = assets.filter(({ name }) => lacking.get(name) === 0).sort(last);
  const order: Listed[] = [];
  for (let asset = ready.pop(); asset !== undefined; asset = ready.pop()) {
    order.push(asset);
    for (const below of [...(downstream.get(asset.name) ?? [])].sort(last)) {
      const rest = (lacking.get(below.name) ?? 0) - 1;
      lacking.set(below.name, rest);
      if (rest === 0) ready.push(below);
    }
  }
  const placed = new Set(order);
  return [...order, ...assets.filter((asset) => !placed.has(asset)).sort(byName)];
};

/** Each asset of an order, with its depth and the lines to it. */
const place = (order: readonly Listed[], downstream: Neighbours): Group => {
  const rows = new Map(order.map(({ name }, row) => [name, row]));
  const levels = order.map(() => 0);
  const ends = order.map(() => -1); // the last row that the line of each leads to
  const into = order.map((): number[] => []);
  order.forEach(({ name }, row) => {
    for (const below of downstream.get(name) ?? []) {
      const end = rows.get(below.name) ?? -1;
      if (end <= row) continue; // back in a circle
      levels[end] = Math.max(levels[end] ?? 0, (levels[row] ?? 0) + 1);
      ends[row] = Math.max(ends[row] ?? -1, end);
      into[end]?.push(row);
    }
  });
  const levelOf = (row: number) => levels[row] ?? 0;
  const depths = (sources: readonly number[]) => [...new Set(sources.map(levelOf))];
  return order.map((asset, row) => ({
    asset,
    level: levelOf(row),
    past: depths(order.slice(0, row).flatMap((_, source) => ((ends[source] ?? -1) > row ? [source] : []))),
    into: depths(into[row] ?? []),
    out: (ends[row] ?? -1) > row,
  }));
};

/** The assets by what is connected, each group upstream first; the group that needs somebody most comes first. */
export const groups = (assets: readonly Listed[]): readonly Group[] => {
  const downstream = downstreamOf(assets);
  const byNames = new Map(assets.map((asset) => [asset.name, asset]));
  const seen = new Set<string>();
  const components: (readonly Listed[])[] = [];
  for (const first of [...assets].sort(byTrouble)) {
    const component: Listed[] = [];
    const reached = [first.name];
    for (let name = reached.pop(); name !== undefined; name = reached.pop()) {
      const asset = byNames.get(name);
      if (asset === undefined || seen.has(name)) continue;
      seen.add(name);
      component.push(asset);
      reached.push(...asset.upstream, ...(downstream.get(name) ?? []).map((below) => below.name));
    }
    if (component.length > 0) components.push(component);
  }
  return components.map((component) => place(inOrder(component, downstream), downstream));
};
