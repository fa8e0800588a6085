"""What Airflow's scheduler does for limits when runs begin and end.

Airflow calls these listeners in the transaction that changes the run's state, in the scheduler and in the API server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.listeners import hookimpl
from sqlalchemy import select

from airflow_partitions.engine.database.models import LimitedRun
from airflow_partitions.engine.limits.slots import give, lock, pair_of, taken
from airflow_partitions.engine.limits.turns import let_begin, put_off, wait_no_more, waits
from airflow_partitions.engine.runs.transaction import within
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.engine.timetables.limits import ValueLimits

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from sqlalchemy import Connection


@hookimpl(tryfirst=True)
def on_dag_run_running(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Let it begin if its limits leave it a slot; else it is queued again, before anybody works for it."""
    from airflow.utils.state import DagRunState

    timetable = limited(dag_run)
    if timetable is None:
        return
    begins = False
    with within(dag_run, "it stays queued, for its limits can't be looked at") as at:
        begins = _begins(at, dag_run, timetable)
    if not begins:
        queued = dag_run.queued_at
        dag_run.state = DagRunState.QUEUED
        dag_run.queued_at = queued


def _begins(at: Connection, dag_run: DagRun, timetable: PartitionTimetable) -> bool:
    """Whether a run that would begin has its slots now."""
    limits = ValueLimits.of(timetable)
    if limits is None:
        return True
    # One that was put off with another a moment ago; or another scheduler gives slots: it looks again in its next loop.
    if waits(at, dag_run.id) or not lock(at, patiently=False):
        return False
    slots = limits.slots(str(dag_run.partition_key))
    busy = taken(at, [pair_of(slot) for slot in slots], but=dag_run.id)
    full = [slot for slot in slots if busy[pair_of(slot)] >= slot.most]
    if full:
        put_off(at, dag_run, limits, full)
    else:
        wait_no_more(at, dag_run.id)  # if it has looked by itself
        give(at, dag_run.id, dict.fromkeys(slots, 1))
    return not full


@hookimpl
def on_dag_run_success(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Give its slots to those that wait for them."""
    _end(dag_run)


@hookimpl
def on_dag_run_failed(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Give its slots to those that wait for them; one that was ended while it waited waits no more."""
    _end(dag_run)


def _end(dag_run: DagRun) -> None:
    if limited(dag_run) is None:
        return
    with within(dag_run, "who waits for the end of this run waits until upkeep looks") as at:
        lock(at, patiently=True)
        own = select(LimitedRun.name, LimitedRun.value).where(LimitedRun.run_id == dag_run.id)
        rows = at.execute(own).all()
        wait_no_more(at, dag_run.id)
        give(at, dag_run.id, {})
        if rows:
            let_begin(at, [(row.name, row.value) for row in rows])


def limited(dag_run: DagRun) -> PartitionTimetable | None:
    """The timetable of a run's Dag, if only so many of its runs are at work at a time, and this run has a partition."""
    timetable: Any = getattr(dag_run.dag, "timetable", None)
    if not isinstance(timetable, PartitionTimetable) or not timetable.limits or dag_run.partition_key is None:
        return None
    return timetable
