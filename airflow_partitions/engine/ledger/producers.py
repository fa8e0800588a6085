"""What the tasks of a Dag write."""

from __future__ import annotations

from sqlalchemy import select

from airflow_partitions.engine.database.connection import open_connection


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
    with open_connection() as connection:
        return list(connection.scalars(query))
