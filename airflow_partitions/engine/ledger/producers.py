"""What the tasks of a Dag write."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, select

from airflow_partitions.engine.database.connection import open_connection

if TYPE_CHECKING:
    from sqlalchemy import Select


def outlets(dag_id: str) -> list[str]:
    """The assets that a Dag has tasks to write."""
    with open_connection() as connection:
        return list(connection.scalars(_outlets(), {"dag_id": dag_id}))


@cache
def _outlets() -> Select[str]:
    from airflow.models.asset import AssetModel, TaskOutletAssetReference

    return (
        select(AssetModel.name)
        .join(TaskOutletAssetReference, TaskOutletAssetReference.asset_id == AssetModel.id)
        .where(TaskOutletAssetReference.dag_id == bindparam("dag_id"))
        .distinct()
        .order_by(AssetModel.name)
    )
