"""Assets that a question over all of them is about."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from airflow_partitions.engine.graph.asset_surroundings import AssetSurroundings, asset_groups
from airflow_partitions.engine.graph.dag_details import DagDetails, read_dag_details
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, asset_dags, unknown_asset
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.board import ShowBoard
from airflow_partitions.operate.contract.fill import FillAssets


def chosen_assets(asker: Asker, names: Collection[str] | None) -> dict[str, AssetDags]:
    """The Dags around the assets that the *asker* may read, by name.

    :param names: only these assets; all if not given.
    :raises UnknownAssetError: if there is no asset of one of these names.
    """
    own = {name: each for name, each in asset_dags().items() if asker.sees(each)}
    for name in names or ():
        if name not in own:
            asker.check_reading(name)
            raise unknown_asset(name, own)
    return own if names is None else {name: own[name] for name in sorted(set(names))}


def fitting_assets(
    asked: ShowBoard | FillAssets, assets: Mapping[str, AssetDags], surroundings: AssetSurroundings
) -> dict[str, AssetDags]:
    """Those of the *assets* that what is asked for leaves: by a part of their names, group, tag, owner, and Dag."""
    part = (asked.search or "").casefold()
    left = {name: dags for name, dags in assets.items() if part in name.casefold()}
    if asked.dag is not None:
        made = {name for name, dags in assets.items() if asked.dag in dags.producers}
        below = {name for one in made for name in surroundings.downstream(assets[one])}
        left = {name: dags for name, dags in left.items() if name in made | below or asked.dag in dags.consumers}
    if asked.group is not None:
        groups = asset_groups(left)
        left = {name: dags for name, dags in left.items() if groups.get(name) == asked.group}
    if asked.tag is not None or asked.owner is not None:
        details = read_dag_details({dag_id for dags in left.values() for dag_id in dags.owners})
        left = {name: dags for name, dags in left.items() if is_of(dags, details, asked.tag, asked.owner)}
    return left


def is_of(asset: AssetDags, details: Mapping[str, DagDetails], tag: str | None, owner: str | None) -> bool:
    """Whether one of the asset's Dags has this tag, and one this owner."""
    own = [details[dag_id] for dag_id in asset.owners if dag_id in details]
    return (tag is None or any(tag in one.tags for one in own)) and (
        owner is None or any(owner in one.owners for one in own)
    )
