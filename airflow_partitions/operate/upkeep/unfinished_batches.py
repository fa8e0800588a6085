"""Batches whose leader has ended while nobody ended its members: the scheduler's listener was lost, or could not."""

from __future__ import annotations

from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from airflow_partitions.core.versions import Report
from airflow_partitions.engine.batches.batch_leader import Leader
from airflow_partitions.engine.batches.ending import end_batch
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.database.models import BatchMember
from airflow_partitions.engine.timetables.base import PartitionTimetable


def finish_batches(report: Report) -> int:
    """End the runs whose partitions were made, and free the others; returns of how many batches.

    :param report: is told of those for which that fails.
    """
    from airflow.models.dagrun import DagRun
    from airflow.utils.state import DagRunState

    query = (
        select(BatchMember.leader_id)
        .join(DagRun, DagRun.id == BatchMember.leader_id, isouter=True)
        .where(BatchMember.outcome.is_(None), DagRun.state.is_distinct_from(DagRunState.RUNNING))
        .distinct()
    )
    finished = 0
    with open_session() as session:
        leaders = list(session.scalars(query.order_by(BatchMember.leader_id)))
    for number in leaders:
        try:
            with open_session() as session:
                is_finished = _finish(session, number)
                session.commit()
        except Exception as error:  # noqa: BLE001 - of one batch; the others are ended
            report(f"the batch of run number {number} can't be ended: {type(error).__name__}: {error}")
        else:
            finished += is_finished
    return finished


def _finish(session: Session, number: int) -> bool:
    """Whether there was anything to end: a run that has begun anew meanwhile has done so itself."""
    from airflow.models.dagrun import DagRun
    from airflow.models.serialized_dag import SerializedDagModel
    from airflow.utils.state import DagRunState

    # This changes nothing. It keeps the run from beginning until the end, also in a database that locks no rows.
    session.execute(update(DagRun).where(DagRun.id == number).values(updated_at=DagRun.updated_at))
    run = session.get(DagRun, number)
    if run is not None and run.state == DagRunState.RUNNING:
        return False
    serialized = None if run is None else SerializedDagModel.get(dag_id=run.dag_id, session=session)
    timetable: Any = None if serialized is None else serialized.dag.timetable
    tasks = [] if serialized is None else list(serialized.dag.tasks)
    if run is None or not isinstance(timetable, PartitionTimetable) or len(tasks) != 1:
        free = delete(BatchMember).where(BatchMember.leader_id == number, BatchMember.outcome.is_(None))
        session.execute(free)
        return True
    (task,) = tasks
    end_batch(session.connection(), Leader.of(run, task), timetable)
    return True


def delete_old_members() -> None:
    """Delete what is kept of runs that are no more."""
    from airflow.models.dagrun import DagRun

    with open_session() as session:
        there = select(DagRun.id).where(DagRun.id == BatchMember.run_id)
        session.execute(delete(BatchMember).where(~there.exists()).execution_options(synchronize_session=False))
        session.commit()
