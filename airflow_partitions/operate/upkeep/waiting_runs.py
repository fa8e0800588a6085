"""Runs that wait for others of the same value although these work no more: the scheduler's listener was lost, a run was
deleted or cleared, or a Dag was paused.
"""

from __future__ import annotations

from sqlalchemy import and_, delete, or_, select

from airflow_partitions.engine.database.connection import open_session, portions
from airflow_partitions.engine.database.models import LimitedRun
from airflow_partitions.engine.limits.slots import lock
from airflow_partitions.engine.limits.turns import bring_back, let_begin


def look_at_limits() -> int:
    """Take back the slots of runs that are at work no more, and give them to those that wait; returns how many."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    has, waits = LimitedRun.run_after.is_(None), LimitedRun.run_after.is_not(None)
    over = or_(
        and_(has, DagRun.state.is_distinct_from(DagRunState.RUNNING)),
        and_(waits, DagRun.state.is_distinct_from(DagRunState.QUEUED)),
    )
    query = (
        select(LimitedRun.run_id, LimitedRun.run_after)
        .join(DagRun, DagRun.id == LimitedRun.run_id, isouter=True)
        .where(LimitedRun.run_id != 0)
    )
    with open_session() as session:
        if session.execute(query.where(or_(over, waits)).limit(1)).one_or_none() is None:
            return 0
    with open_session() as session:
        at = session.connection()
        lock(at, patiently=True)
        rows = at.execute(query.where(over)).all()
        bring_back(at, [(number, run_after) for number, run_after in rows if run_after is not None])
        for portion in portions([number for number, run_after in rows if run_after is None]):
            at.execute(delete(LimitedRun).where(LimitedRun.run_id.in_(portion)))
        began = let_begin(at)
        session.commit()
    return began
