"""Airflow's pending rows: one for each partition of a consumer that an event has asked for.

The scheduler looks at the 500 oldest of all Dags in each of its loops; rows that can't fire keep their place. A
deleted row loses nothing: all that was ever materialised counts, and the next event makes a new row.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from airflow_partitions.errors import PartitionError
from airflow_partitions.history.database import portions, session
from airflow_partitions.timetables import Partitioned

#: So many waiting rows do no harm, and Airflow's pages show by them what is waited for.
HARMLESS = 200
_GRACE = timedelta(seconds=5)
KEEP_FIRED = timedelta(days=1)


def delete_fired(keep: timedelta = KEEP_FIRED) -> int:
    """Delete rows that fired longer ago than *keep*; returns how many."""
    from airflow.models.asset import AssetPartitionDagRun as Row

    with session() as at:
        old = select(Row.id).where(Row.created_dag_run_id.is_not(None), Row.created_at < datetime.now(UTC) - keep)
        return _delete(at, list(at.scalars(old)))


def delete_hopeless(consumers: Mapping[str, Partitioned], harmless: int = HARMLESS) -> int:
    """Delete rows of *consumers* that can never fire; returns how many.

    If more wait than is *harmless*, also those that wait for partitions that are not being made.
    """
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
            if dag_id in consumers and _is_hopeless(consumers[dag_id], key, crowded=waiting > harmless)
        ]
        return _delete(at, dead)


def _is_hopeless(timetable: Partitioned, key: str, *, crowded: bool) -> bool:
    try:
        evaluation = timetable.evaluate(key)
    except PartitionError:  # a key or an upstream that is no more
        return True
    if evaluation.may_fire:
        return False
    return evaluation.idle or (crowded and not timetable.is_blocked(key))


def _delete(at: Session, rows: list[int]) -> int:
    """Delete those of *rows* that nobody else has locked."""
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.asset import PartitionedAssetKeyLog as Log

    deleted = 0
    for portion in portions(rows, 1000):
        locked = list(at.scalars(select(Row.id).where(Row.id.in_(portion)).with_for_update(skip_locked=True)))
        if locked:
            at.execute(delete(Log).where(Log.asset_partition_dag_run_id.in_(locked)))
            at.execute(delete(Row).where(Row.id.in_(locked)))
        at.commit()
        deleted += len(locked)
    return deleted
