"""The tasks of Dags, partition by partition: of each the newest try in the newest run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs
from airflow.exceptions import DeserializationError
from sqlalchemy import and_, func, select

from airflow_partitions.engine.database.connection import open_connection
from airflow_partitions.engine.runs.task_rows import is_live
from airflow_partitions.engine.timetables.serialized_dag import serialized_dags

if TYPE_CHECKING:
    from sqlalchemy import Connection

#: From what needs somebody most to what needs nobody; ``None`` is a task of which nothing was decided yet.
_WORST_FIRST = (
    "failed",
    "upstream_failed",
    "up_for_retry",
    "restarting",
    "running",
    "awaiting_input",
    "deferred",
    "up_for_reschedule",
    "queued",
    "scheduled",
    None,
    "removed",
    "skipped",
    "success",
)


@attrs.frozen
class TaskRun:
    """The newest run of a Dag for a partition.

    :ivar number: Airflow's of the run.
    """

    number: int
    run_id: str
    state: str

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {"run_id": self.run_id, "state": self.state}


@attrs.frozen
class TaskCell:
    """A task in a run; of mapped instances all together.

    :ivar state: as Airflow has it; of several that which needs somebody most.
    :ivar began: when the newest try did; of several the first; aware.
    :ivar ended: of several the last; ``None`` as long as one has not.
    :ivar instances: number of mapped ones; ``None`` of a task without them.
    """

    state: str | None
    tries: int
    began: datetime | None
    ended: datetime | None
    instances: int | None

    def beside(self, other: TaskCell) -> TaskCell:
        """This and other instances of the same task."""
        begins = [at for at in (self.began, other.began) if at is not None]
        ends = None if self.ended is None or other.ended is None else max(self.ended, other.ended)
        return TaskCell(
            min(self.state, other.state, key=_badness),
            max(self.tries, other.tries),
            min(begins, default=None),
            ends,
            (self.instances or 0) + (other.instances or 0) or None,
        )

    def to_json(self) -> dict[str, Any]:
        """JSON form: times with their UTC offset."""
        took = None if self.began is None or self.ended is None else (self.ended - self.began).total_seconds()
        return {
            "state": self.state,
            "tries": self.tries,
            "began": None if self.began is None else self.began.astimezone(UTC).isoformat(),
            "seconds": took,
            **({} if self.instances is None else {"instances": self.instances}),
        }


@attrs.frozen
class DagTasks:
    """The tasks of a Dag, partition by partition.

    :ivar runs: the newest of each partition; ``None`` where there is none.
    :ivar tasks: ids, each with the cell of each partition; those before others first.
    """

    dag_id: str
    runs: tuple[TaskRun | None, ...]
    tasks: tuple[tuple[str, tuple[TaskCell | None, ...]], ...]

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {
            "dag_id": self.dag_id,
            "runs": [None if run is None else run.to_json() for run in self.runs],
            "tasks": [
                {"task_id": task_id, "cells": [None if cell is None else cell.to_json() for cell in cells]}
                for task_id, cells in self.tasks
            ],
        }


def task_matrix(dag_ids: Collection[str], texts: Sequence[str]) -> list[DagTasks]:
    """The tasks of Dags, by id, in the newest run of each partition; as many statements as for one partition.

    :param texts: keys of the partitions, no more than a statement may name.
    """
    with open_connection() as connection:
        runs = _newest_runs(connection, dag_ids, texts)
        cells = _cells(connection, [run.number for of_dag in runs.values() for run in of_dag.values()])
    ordered: dict[str, tuple[str, ...]] = {}
    for dag in serialized_dags(dag_ids):
        with suppress(DeserializationError):  # the doctor tells of it
            ordered[dag.dag_id] = dag.task_ids
    return [
        _dag_tasks(dag_id, ordered.get(dag_id, ()), runs.get(dag_id, {}), cells, texts) for dag_id in sorted(dag_ids)
    ]


def _newest_runs(
    connection: Connection, dag_ids: Collection[str], texts: Sequence[str]
) -> dict[str, dict[str, TaskRun]]:
    """The newest run of each partition, by the id of the Dag and the text of the key."""
    from airflow.models.dagrun import DagRun

    own = DagRun.dag_id.in_(list(dag_ids)), DagRun.partition_key.in_(texts)
    newest = select(func.max(DagRun.id)).where(*own).group_by(DagRun.dag_id, DagRun.partition_key)
    query = select(DagRun.dag_id, DagRun.partition_key, DagRun.id, DagRun.run_id, DagRun.state)
    runs: dict[str, dict[str, TaskRun]] = {}
    for dag_id, text, number, run_id, state in connection.execute(query.where(DagRun.id.in_(newest))):
        runs.setdefault(dag_id, {})[text] = TaskRun(number, run_id, str(state))
    return runs


def _cells(connection: Connection, numbers: Sequence[int]) -> dict[int, dict[str, TaskCell]]:
    """The tasks of runs, by the number of the run and the id of the task; the database sums instances by state."""
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance as Task

    query = (
        select(
            DagRun.id,
            Task.task_id,
            Task.state,
            func.max(Task.map_index),
            func.count(),
            func.count(Task.end_date),
            func.max(Task.try_number),
            func.min(Task.start_date),
            func.max(Task.end_date),
        )
        .join(Task, and_(Task.dag_id == DagRun.dag_id, Task.run_id == DagRun.run_id))
        .where(DagRun.id.in_(numbers), is_live(Task))
        .group_by(DagRun.id, Task.task_id, Task.state)
    )
    cells: dict[int, dict[str, TaskCell]] = {}
    for number, task_id, state, index, count, ends, tries, began, ended in connection.execute(query):
        has_ended = ended if ends == count else None
        cell = TaskCell(state, tries, began, has_ended, count if index >= 0 else None)
        of_run = cells.setdefault(number, {})
        of_run[task_id] = of_run[task_id].beside(cell) if task_id in of_run else cell
    return cells


def _dag_tasks(
    dag_id: str,
    task_ids: tuple[str, ...],
    runs: dict[str, TaskRun],
    cells: dict[int, dict[str, TaskCell]],
    texts: Sequence[str],
) -> DagTasks:
    own = [runs.get(text) for text in texts]
    of_runs = [{} if run is None else cells.get(run.number, {}) for run in own]
    older = sorted({task_id for some in of_runs for task_id in some} - set(task_ids))
    rows = ((task_id, tuple(some.get(task_id) for some in of_runs)) for task_id in (*task_ids, *older))
    return DagTasks(dag_id, tuple(own), tuple(rows))


def _badness(state: str | None) -> int:
    """A place in the order above; a state that a later Airflow has is worth a look."""
    return _WORST_FIRST.index(state) if state in _WORST_FIRST else 0
