"""Questions about asset events and runs, asked on a connection of their own.

The scheduler's session must not be used: its transaction is guarded against commits from outside.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from sqlalchemy import select

if TYPE_CHECKING:
    from sqlalchemy import Connection

# Databases cap the parameters of a statement; this is below the caps of all three that Airflow supports.
_MOST_PARAMETERS = 10_000


def materialised(name: str, texts: Collection[str]) -> set[str]:
    """Those of the keys *texts* for which the active asset called *name* has had an event, at any time."""
    from airflow.models.asset import AssetEvent, AssetModel

    found: set[str] = set()
    with _connection() as connection:
        listed = list(texts)
        for start in range(0, len(listed), _MOST_PARAMETERS):
            some = listed[start : start + _MOST_PARAMETERS]
            query = (
                select(AssetEvent.partition_key)
                .distinct()
                .join(AssetModel, AssetModel.id == AssetEvent.asset_id)
                .where(AssetModel.name == name, AssetModel.active.has(), AssetEvent.partition_key.in_(some))
            )
            found.update(connection.scalars(query))
    return found


def in_flight(name: str) -> set[str]:
    """Keys of the queued and running runs, in Dags that are not paused, that produce the asset called *name*."""
    from airflow.models.asset import AssetModel, TaskOutletAssetReference
    from airflow.models.dag import DagModel
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    producers = (
        select(TaskOutletAssetReference.dag_id)
        .join(AssetModel, AssetModel.id == TaskOutletAssetReference.asset_id)
        .where(AssetModel.name == name, AssetModel.active.has())
    )
    query = (
        select(DagRun.partition_key)
        .join(DagModel, DagModel.dag_id == DagRun.dag_id)
        .where(
            DagRun.dag_id.in_(producers),
            DagRun.state.in_([DagRunState.QUEUED, DagRunState.RUNNING]),
            DagRun.partition_key.is_not(None),
            DagModel.is_paused.is_(False),
        )
    )
    with _connection() as connection:
        return {key for key in connection.scalars(query) if key is not None}


def _connection() -> Connection:
    from airflow import settings

    if settings.engine is None:
        raise RuntimeError("Airflow's database is not set up in this process; history is for scheduler and API server")
    return settings.engine.connect()
