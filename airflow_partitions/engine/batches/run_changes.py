"""What Airflow's scheduler does for batches when runs begin and end.

Airflow calls these listeners in the transaction that changes the run's state, in the scheduler and in the API server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.listeners import hookimpl
from sqlalchemy import select

from airflow_partitions.engine.batches.batch_leader import Leader
from airflow_partitions.engine.batches.choice import choose
from airflow_partitions.engine.batches.ending import end_batch
from airflow_partitions.engine.batches.size import size_of
from airflow_partitions.engine.runs.task_rows import is_live
from airflow_partitions.engine.runs.transaction import within
from airflow_partitions.engine.timetables.base import PartitionTimetable

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun
    from sqlalchemy import Connection


@hookimpl(trylast=True)
def on_dag_run_running(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """Give it the runs that it makes together with its own partition, unless its task has ended.

    One that has led a batch may be cleared, and begin anew, before anybody has ended that: it is ended first.
    """
    from airflow.utils.state import DagRunState

    if dag_run.state != DagRunState.RUNNING:  # its limits have left it no slot
        return
    if (timetable := batching(dag_run)) is not None and (task := _task_of(dag_run)) is not None:
        with within(dag_run, "it is given no runs to make") as at:
            leader = Leader.of(dag_run, task)
            end_batch(at, leader, timetable)
            if not _has_ended(at, leader):
                size = size_of(at, dag_run.dag_id, timetable.batch)
                choose(at, dag_run, leader, timetable, size)


@hookimpl
def on_dag_run_success(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """End the runs whose partitions it has made."""
    _end(dag_run)


@hookimpl
def on_dag_run_failed(dag_run: DagRun, msg: str) -> None:  # noqa: ARG001 - Airflow's names
    """End the runs whose partitions it has made before it failed."""
    _end(dag_run)


def _end(dag_run: DagRun) -> None:
    if (timetable := batching(dag_run)) is not None and (task := _task_of(dag_run)) is not None:
        with within(dag_run, "the runs whose partitions it has made stay queued until upkeep ends them") as at:
            end_batch(at, Leader.of(dag_run, task), timetable)


def batching(dag_run: DagRun) -> PartitionTimetable | None:
    """The timetable of a run's Dag, if it makes partitions in batches and this run has one."""
    timetable: Any = getattr(dag_run.dag, "timetable", None)
    if not isinstance(timetable, PartitionTimetable) or timetable.batch == 1 or dag_run.partition_key is None:
        return None
    return timetable


def _has_ended(at: Connection, leader: Leader) -> bool:
    """Whether its task has nothing to do: it is skipped, or a batch has made it that ended while this run began."""
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.state import State

    table = TaskInstance.__table__
    own = table.c.dag_id == leader.dag_id, table.c.run_id == leader.run_id, table.c.task_id == leader.task_id
    return at.scalar(select(table.c.state).where(*own, is_live(table))) in State.finished


def _task_of(dag_run: DagRun) -> Any:
    """The only task of a run's Dag; ``None`` if there are several."""
    tasks: Any = [] if dag_run.dag is None else dag_run.dag.tasks
    return tasks[0] if len(tasks) == 1 else None
