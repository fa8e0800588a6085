"""The producers of an asset.

``Asset.extra`` is a hint that any mention of the asset overwrites; the producer's own timetable is the truth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from airflow_partitions.history.database import connection, session

if TYPE_CHECKING:
    from airflow.timetables.base import Timetable


def producing_timetables(asset: str) -> list[Timetable]:
    """Timetables of the Dags with a task that writes the active *asset*."""
    from airflow.models.asset import AssetModel, TaskOutletAssetReference
    from airflow.models.serialized_dag import SerializedDagModel

    query = (
        select(TaskOutletAssetReference.dag_id)
        .join(AssetModel, AssetModel.id == TaskOutletAssetReference.asset_id)
        .where(AssetModel.name == asset, AssetModel.active.has())
        .distinct()
        .order_by(TaskOutletAssetReference.dag_id)
    )
    with session() as at:
        dag_ids = list(at.scalars(query))
        rows = SerializedDagModel.get_latest_serialized_dags(dag_ids=dag_ids, session=at) if dag_ids else []
        return [row.dag.timetable for row in rows]


def outlets(dag_id: str) -> list[str]:
    """The assets that a Dag has tasks to write."""
    from airflow.models.asset import AssetModel, TaskOutletAssetReference

    query = (
        select(AssetModel.name)
        .join(TaskOutletAssetReference, TaskOutletAssetReference.asset_id == AssetModel.id)
        .where(TaskOutletAssetReference.dag_id == dag_id)
        .distinct()
        .order_by(AssetModel.name)
    )
    with connection() as at:
        return list(at.scalars(query))
