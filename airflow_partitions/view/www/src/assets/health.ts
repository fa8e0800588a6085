import type { State } from "../states/state";
import type { Listed } from "./list";

const numberOf = ({ counts }: Listed, state: State): number => counts[state] ?? 0;

/** How much an asset needs somebody, what weighs most first. */
const trouble = (asset: Listed): readonly number[] => [
  asset.error == null ? 0 : 1,
  asset.absent.length,
  numberOf(asset, "failed"),
  numberOf(asset, "stale"),
  asset.paused.length,
  numberOf(asset, "missing"),
  numberOf(asset, "waiting"),
];

/** Order of assets: what needs somebody most first, then by name. */
export const byTrouble = (one: Listed, other: Listed): number => {
  const others = trouble(other);
  const difference = trouble(one)
    .map((weight, place) => (others[place] ?? 0) - weight)
    .find((weight) => weight !== 0);
  return difference ?? byName(one, other);
};

export const byName = (one: Listed, other: Listed): number =>
  one.name.localeCompare(other.name, "en", { numeric: true });

/** Share of the partitions that are materialized: "98.2 %"; 100 % only if all are. */
export const share = (asset: Listed): string => {
  if (asset.total === 0) return "–";
  const permille = Math.floor((numberOf(asset, "materialized") * 1000) / asset.total);
  return `${permille % 10 === 0 ? permille / 10 : (permille / 10).toFixed(1)} %`;
};
