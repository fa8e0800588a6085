"""The producers of an asset.

``Asset.extra`` is a hint that any mention of the asset overwrites; the producer's own timetable is the truth.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from airflow.exceptions import DeserializationError
from sqlalchemy import select

from airflow_partitions.database.connection import connection
from airflow_partitions.timetables.serialized_dag import serialized_dags

if TYPE_CHECKING:
    from airflow.timetables.base import Timetable


def producing_timetables(asset: str) -> list[Timetable]:
    """Timetables of the Dags with a task that writes the active *asset*, as far as they can be read."""
    from airflow.models.asset import AssetModel, TaskOutletAssetReference

    query = (
        select(TaskOutletAssetReference.dag_id)
        .join(AssetModel, AssetModel.id == TaskOutletAssetReference.asset_id)
        .where(AssetModel.name == asset, AssetModel.active.has())
        .distinct()
    )
    with connection() as at:
        dag_ids = list(at.scalars(query))
    timetables: list[Timetable] = []
    for dag in serialized_dags(dag_ids):
        with suppress(DeserializationError):  # the doctor tells of it
            timetables.append(dag.timetable)
    return timetables
