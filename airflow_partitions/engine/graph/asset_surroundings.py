"""The assets around an asset, along the Dags between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import attrs
from sqlalchemy import select

from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.graph.partitioned_assets import AssetDags


@attrs.frozen
class AssetSurroundings:
    """Which assets are made of which, as far as somebody may read them.

    :ivar dags: the Dags that may be read; all if ``None``.
    """

    dags: Collection[str] | None
    _makes: Mapping[str, Collection[str]]
    _awaits: Mapping[str, Collection[str]]

    @classmethod
    def of(cls, assets: Mapping[str, AssetDags], dags: Collection[str] | None) -> AssetSurroundings:
        """Those of all *assets*, by their names."""
        makes: dict[str, set[str]] = defaultdict(set)
        awaits: dict[str, set[str]] = defaultdict(set)
        for name, each in assets.items():
            if dags is None or each.owned_by(dags):
                for dag_id in each.producers:
                    makes[dag_id].add(name)
                for dag_id in each.consumers:
                    awaits[dag_id].add(name)
        return cls(dags, makes, awaits)

    def readable_dags(self, dag_ids: Iterable[str]) -> list[str]:
        """Those of some Dags that may be read."""
        return [dag_id for dag_id in dag_ids if self.dags is None or dag_id in self.dags]

    def upstream(self, asset: AssetDags) -> list[str]:
        """The names of the assets that the Dags wait for that make an *asset*."""
        return sorted({name for dag_id in asset.producers for name in self._awaits.get(dag_id, ())} - {asset.asset})

    def downstream(self, asset: AssetDags) -> list[str]:
        """The names of the assets that the Dags make that wait for an *asset*."""
        consumers = self.readable_dags(asset.consumers)
        return sorted({name for dag_id in consumers for name in self._makes.get(dag_id, ())} - {asset.asset})


def asset_groups(names: Collection[str]) -> dict[str, str]:
    """Airflow's groups of active assets, by their names."""
    from airflow.models.asset import AssetModel

    groups: dict[str, str] = {}
    with open_connection() as connection:
        for portion in portions(list(names)):
            query = select(AssetModel.name, AssetModel.group).where(AssetModel.name.in_(portion))
            groups.update((name, group) for name, group in connection.execute(query.where(AssetModel.active.has())))
    return groups
