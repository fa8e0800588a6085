"""The producers of assets.

``Asset.extra`` is a hint that any mention of the asset overwrites; the producer's own timetable is the truth.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from sqlalchemy import select

from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.timetables.serialized_dag import read_timetables

if TYPE_CHECKING:
    from airflow.timetables.base import Timetable


def producing_timetables(assets: Collection[str]) -> dict[str, list[Timetable]]:
    """Timetables of the Dags with a task that writes one of the active *assets*, by asset.

    Those that can't be read are left out.
    """
    from airflow.models.asset import AssetModel, TaskOutletAssetReference

    dag_ids: dict[str, list[str]] = {asset: [] for asset in assets}
    with open_connection() as connection:
        for portion in portions(sorted(assets)):
            query = (
                select(AssetModel.name, TaskOutletAssetReference.dag_id)
                .join(AssetModel, AssetModel.id == TaskOutletAssetReference.asset_id)
                .where(AssetModel.name.in_(portion), AssetModel.active.has())
                .distinct()
                .order_by(TaskOutletAssetReference.dag_id)
            )
            for asset, dag_id in connection.execute(query):
                dag_ids[asset].append(dag_id)
    timetables, _ = read_timetables({dag_id for some in dag_ids.values() for dag_id in some})
    return {asset: [timetables[dag_id] for dag_id in some if dag_id in timetables] for asset, some in dag_ids.items()}
