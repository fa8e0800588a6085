"""Assets that a question over all of them is about."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from airflow_partitions.engine.graph.dag_details import DagDetails
from airflow_partitions.engine.graph.partitioned_assets import AssetDags, asset_dags, unknown_asset
from airflow_partitions.operate.asker import Asker


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


def is_of(asset: AssetDags, details: Mapping[str, DagDetails], tag: str | None, owner: str | None) -> bool:
    """Whether one of the asset's Dags has this tag, and one this owner."""
    own = [details[dag_id] for dag_id in asset.owners if dag_id in details]
    return (tag is None or any(tag in one.tags for one in own)) and (
        owner is None or any(owner in one.owners for one in own)
    )
