"""Airflow's pending rows: one for each partition of a consumer that an event has asked for.

The scheduler looks at the 500 oldest of all Dags in each of its loops; rows that can't fire keep their place. A row
that is taken away loses nothing: all that was ever materialised counts, and the next event makes a new row.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from airflow_partitions.errors import PartitionError
from airflow_partitions.history.database import portions, session
from airflow_partitions.timetables import Partitioned

#: So many waiting rows do no harm and show on Airflow's pages what is waited for.
HARMLESS = 200
_GRACE = timedelta(seconds=5)
KEEP_FIRED = timedelta(days=1)


def take_fired(keep: timedelta = KEEP_FIRED) -> int:
    """Take away rows that fired longer ago than *keep*; returns how many."""
    from airflow.models.asset import AssetPartitionDagRun as Row

    with session() as at:
        old = select(Row.id).where(Row.created_dag_run_id.is_not(None), Row.created_at < datetime.now(UTC) - keep)
        return _take(at, list(at.scalars(old)))


def take_waiting(consumers: Mapping[str, Partitioned], harmless: int = HARMLESS) -> int:
    """Take away rows of *consumers* that have nothing to do, and, if there are more waiting than is *harmless*, those
    that wait for partitions that are not being made; returns how many."""
    from airflow.models.asset import AssetPartitionDagRun as Row

    with session() as at:
        waiting = at.scalar(select(func.count()).select_from(Row).where(Row.created_dag_run_id.is_(None))) or 0
        query = select(Row.id, Row.target_dag_id, Row.partition_key).where(
            Row.created_dag_run_id.is_(None), Row.created_at < datetime.now(UTC) - _GRACE
        )
        rows = at.execute(query).all()
        dead = [
            row
            for row, dag_id, key in rows
            if dag_id in consumers and _has_no_future(consumers[dag_id], key, crowded=waiting > harmless)
        ]
        return _take(at, dead)


def _has_no_future(timetable: Partitioned, key: str, *, crowded: bool) -> bool:
    try:
        outlook = timetable.outlook(key)
    except PartitionError:  # a key or an upstream that is no more
        return True
    if outlook.may_fire or outlook.upcoming.blocked:
        return False
    return outlook.idle or crowded


def _take(at: Session, rows: list[int]) -> int:
    """Delete *rows* that nobody else is at."""
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.asset import PartitionedAssetKeyLog as Log

    taken = 0
    for some in portions(rows, 1000):
        held = list(at.scalars(select(Row.id).where(Row.id.in_(some)).with_for_update(skip_locked=True)))
        if held:
            at.execute(delete(Log).where(Log.asset_partition_dag_run_id.in_(held)))
            at.execute(delete(Row).where(Row.id.in_(held)))
        at.commit()
        taken += len(held)
    return taken
