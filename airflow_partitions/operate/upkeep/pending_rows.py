"""Airflow's pending rows: one for each partition of a consumer that an event has asked for.

The scheduler looks at the 500 oldest of all Dags in each of its loops; rows that can't fire keep their place. A
deleted row loses nothing: all that was ever materialized counts, and the next event makes a new row.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import bindparam, delete, func, select, update
from sqlalchemy.orm import Session

from airflow_partitions.core.errors import PartitionError
from airflow_partitions.core.versions import Report
from airflow_partitions.engine.database.connection import is_one_machine, open_session, portions
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.evaluation import refresh_history

log = logging.getLogger(__name__)

#: So many waiting rows do no harm, and Airflow's pages show by them what is waited for.
HARMLESS = 200
_AT_ONCE = 1_000
_GRACE = timedelta(seconds=5)
KEEP_FIRED = timedelta(days=1)


def delete_fired(keep: timedelta = KEEP_FIRED) -> int:
    """Delete rows that fired longer ago than *keep*, and what is left of rows that are no more; returns how many rows.

    Airflow leaves the log of a row when its run is purged.
    """
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.asset import PartitionedAssetKeyLog as Log

    before, deleted = datetime.now(UTC) - keep, 0
    with open_session() as session:
        old = select(Row.id).where(Row.created_dag_run_id.is_not(None), Row.created_at < before)
        for portion in portions(list(session.scalars(old)), _AT_ONCE):
            deleted += _delete(session, _lock(session, portion))
            session.commit()
        rows = select(Row.id).where(Row.id == Log.asset_partition_dag_run_id)
        session.execute(delete(Log).where(Log.created_at < before, ~rows.exists()))
        session.commit()
    return deleted


def delete_hopeless(
    consumers: Mapping[str, Partitioned], harmless: int = HARMLESS, report: Report = log.warning
) -> int:
    """Delete rows of *consumers* that can never fire; returns how many.

    If more wait than is *harmless*, also those that wait for partitions that are not being made.

    :param report: is told of each Dag whose rows can't be judged; these stay.
    """
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.asset import PartitionedAssetKeyLog as Log

    with open_session() as session:
        crowded = _is_crowded(session, harmless)
        query = (
            select(Row.id, Row.target_dag_id, Row.partition_key, func.count(Log.id))
            .join(Log, Log.asset_partition_dag_run_id == Row.id, isouter=True)
            .where(Row.created_dag_run_id.is_(None), Row.created_at < datetime.now(UTC) - _GRACE)
            .group_by(Row.id, Row.target_dag_id, Row.partition_key)
        )
        rows = [
            (row, dag_id, key, events) for row, dag_id, key, events in session.execute(query) if dag_id in consumers
        ]
        session.rollback()
        refresh_history()  # so that all events counted here are judged by
        dead: dict[int, tuple[str, int]] = {}
        for row, dag_id, key, events in rows:
            try:
                if _is_hopeless(consumers[dag_id], key, crowded=crowded):
                    dead[row] = dag_id, events
            except Exception as error:  # noqa: BLE001 - of one Dag; the others' rows are judged
                report(f"those of Dag {dag_id!r} stay: {type(error).__name__}: {error}")
        deleted = 0
        for portion in portions(list(dead), _AT_ONCE):
            quiet = _lock_upstreams(session, {dead[row][0]: consumers[dead[row][0]] for row in portion})
            locked = [row for row in _lock(session, portion) if dead[row][0] in quiet]
            events_now = _events_on(session, locked)
            deleted += _delete(session, [row for row in locked if events_now.get(row, 0) == dead[row][1]])
            session.commit()
        return deleted


def postpone_early(consumers: Mapping[str, Partitioned], harmless: int = HARMLESS, report: Report = log.warning) -> int:
    """If more rows wait than is *harmless*, put those whose time has not come (``at=``) behind all others until then.

    The oldest stand first: such a row counts as made when its time comes. Returns how many were put back.

    :param report: is told of each Dag whose rows can't be judged; these keep their place.
    """
    from airflow.models.asset import AssetPartitionDagRun as Row

    dag_ids = [
        dag_id
        for dag_id, timetable in consumers.items()
        if timetable.upstreams is not None and timetable.upstreams.run_policy.at is not None
    ]
    if not dag_ids:
        return 0
    now, postponed = datetime.now(UTC), 0
    with open_session() as session:
        is_waiting = Row.created_dag_run_id.is_(None)
        if not _is_crowded(session, harmless):
            return 0
        rows: dict[int, datetime] = {}
        for portion in portions(dag_ids):
            query = select(Row.id, Row.target_dag_id, Row.partition_key).where(
                is_waiting, Row.created_at <= now, Row.target_dag_id.in_(portion)
            )
            for row, dag_id, key in session.execute(query):
                try:
                    until = consumers[dag_id].early_until(key)
                except Exception as error:  # noqa: BLE001 - of one row; the others are put back
                    report(f"those of Dag {dag_id!r} keep their place: {type(error).__name__}: {error}")
                    continue
                if until is not None:
                    rows[row] = until.astimezone(UTC)
        change = update(Row).where(Row.id == bindparam("row"), is_waiting).values(created_at=bindparam("until"))
        for early in portions(list(rows), _AT_ONCE):
            if locked := _lock(session, early):
                session.connection().execute(change, [{"row": row, "until": rows[row]} for row in locked])
            session.commit()
            postponed += len(locked)
    return postponed


def _is_crowded(session: Session, harmless: int) -> bool:
    """Whether more rows wait than is *harmless*: rows that the scheduler looks at, not those of Dags that are gone."""
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.dag import DagModel

    query = (
        select(func.count(Row.id))
        .join(DagModel, DagModel.dag_id == Row.target_dag_id)
        .where(Row.created_dag_run_id.is_(None), DagModel.is_stale.is_(False))
    )
    return (session.scalar(query) or 0) > harmless


def _is_hopeless(timetable: Partitioned, key: str, *, crowded: bool) -> bool:
    try:
        evaluation = timetable.evaluate(key)
    except PartitionError:  # a key or an upstream that is no more
        return True
    if evaluation.may_fire:
        return False
    # The first event of an asset without partitions asks for the newest partition alone.
    return evaluation.idle or (crowded and not timetable.is_blocked(key) and not timetable.lacks_unpartitioned())


def _lock_upstreams(session: Session, consumers: Mapping[str, Partitioned]) -> set[str]:
    """Those of *consumers* on whose rows no event can be put until the transaction ends.

    Airflow locks the asset while it registers an event; assets that are locked now are not waited for. On SQLite the
    first write locks out all others.
    """
    from airflow.models.asset import AssetModel

    upstreams = {
        dag_id: set(timetable.upstreams.leaves) for dag_id, timetable in consumers.items() if timetable.upstreams
    }
    names = sorted(set().union(*upstreams.values()))
    if is_one_machine():
        session.execute(update(AssetModel).where(AssetModel.name.in_(names)).values(id=AssetModel.id))
        return set(consumers)
    query = select(AssetModel.name).where(AssetModel.name.in_(names), AssetModel.active.has()).order_by(AssetModel.id)
    locked = set(session.scalars(query.with_for_update(key_share=True, skip_locked=True, of=AssetModel)))
    return {dag_id for dag_id, assets in upstreams.items() if assets <= locked}


def _lock(session: Session, rows: Sequence[int]) -> list[int]:
    """Lock those of *rows* that nobody else has locked."""
    from airflow.models.asset import AssetPartitionDagRun as Row

    return list(session.scalars(select(Row.id).where(Row.id.in_(rows)).with_for_update(skip_locked=True)))


def _events_on(session: Session, rows: Sequence[int]) -> dict[int, int]:
    """The number of events that have been put on each of *rows*."""
    from airflow.models.asset import PartitionedAssetKeyLog as Log

    query = (
        select(Log.asset_partition_dag_run_id, func.count(Log.id))
        .where(Log.asset_partition_dag_run_id.in_(rows))
        .group_by(Log.asset_partition_dag_run_id)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def _delete(session: Session, rows: Sequence[int]) -> int:
    """Delete *rows* and their logs; returns how many."""
    from airflow.models.asset import AssetPartitionDagRun as Row
    from airflow.models.asset import PartitionedAssetKeyLog as Log

    session.execute(delete(Log).where(Log.asset_partition_dag_run_id.in_(rows)))
    session.execute(delete(Row).where(Row.id.in_(rows)))
    return len(rows)
