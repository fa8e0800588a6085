"""What a queued run waits for that its limits keep from beginning, in words."""

from __future__ import annotations

from sqlalchemy import select

from airflow_partitions.engine.database.connection import open_connection
from airflow_partitions.engine.database.models import LimitedRun
from airflow_partitions.engine.timetables.limits import WorkSlot


def slot_words(dag_id: str, run_id: str) -> str | None:
    """Which runs are at work that a run waits for; ``None`` if it waits for none. Those of other Dags are not named."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    waiting = (
        select(LimitedRun.name, LimitedRun.value, LimitedRun.most)
        .join(DagRun, DagRun.id == LimitedRun.run_id)
        .where(DagRun.dag_id == dag_id, DagRun.run_id == run_id, LimitedRun.run_after.is_not(None))
    )
    with open_connection() as connection:
        row = connection.execute(waiting).first()
        if row is None:
            return None
        at_work = (
            select(DagRun.dag_id, DagRun.run_id, LimitedRun.slots)
            .join(LimitedRun, LimitedRun.run_id == DagRun.id)
            .where(LimitedRun.name == row.name, LimitedRun.value == row.value, LimitedRun.run_after.is_(None))
            .where(DagRun.state == DagRunState.RUNNING)
            .order_by(DagRun.id)
        )
        runs = connection.execute(at_work).all()
    names = [run for dag, run, _ in runs if dag == dag_id]
    if others := len({dag for dag, _, _ in runs} - {dag_id}):
        names.append(f"of {others} other Dag{'s' if others > 1 else ''}")
    count = sum(slots for _, _, slots in runs)
    words = f"it waits: {count} of {row.most} runs of {WorkSlot(row.name, row.value, row.most).words} at work"
    return f"{words}: {', '.join(names)}" if names else words
