"""Assets that a question over all of them is about."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_partitions.engine.graph.asset_surroundings import AssetSurroundings, asset_groups
from airflow_partitions.engine.graph.dag_details import DagDetails, read_dag_details
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, unknown_asset
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.asset_selection import AssetSelection


def chosen_assets(asked: AssetSelection, asker: Asker, every: Mapping[str, AssetDags]) -> dict[str, AssetDags]:
    """Those of all assets that the *asker* may read, and that what is asked for leaves, by name.

    :param every: the Dags around all assets, by name.
    :raises UnknownAssetError: if there is no asset of a name that is asked for.
    """
    own = {name: dags for name, dags in every.items() if asker.sees(dags)}
    for name in asked.asset or ():
        if name not in own:
            asker.check_reading(name)
            raise unknown_asset(name, own)
    names = own if asked.asset is None else sorted(set(asked.asset))
    part = (asked.search or "").casefold()
    left = {name: own[name] for name in names if part in name.casefold()}
    if asked.dag is not None:
        surroundings = AssetSurroundings.of(every, asker.readable)
        made = {name for name, dags in own.items() if asked.dag in dags.producers}
        below = {name for one in made for name in surroundings.downstream(own[one])}
        left = {name: dags for name, dags in left.items() if name in made | below or asked.dag in dags.consumers}
    if asked.group is not None:
        groups = asset_groups(left)
        left = {name: dags for name, dags in left.items() if groups.get(name) == asked.group}
    if asked.tag is not None or asked.owner is not None:
        details = read_dag_details({dag_id for dags in left.values() for dag_id in dags.owners})
        left = {name: dags for name, dags in left.items() if _is_of(dags, details, asked.tag, asked.owner)}
    return left


def _is_of(asset: AssetDags, details: Mapping[str, DagDetails], tag: str | None, owner: str | None) -> bool:
    """Whether one of the asset's Dags has this tag, and one this owner."""
    own = [details[dag_id] for dag_id in asset.owners if dag_id in details]
    return (tag is None or any(tag in one.tags for one in own)) and (
        owner is None or any(owner in one.owners for one in own)
    )
