"""What made runs fail."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
from sqlalchemy import and_, bindparam, select

from airflow_partitions.engine.database.connection import portions
from airflow_partitions.engine.runs.task_error import TASK_ERROR, read_error
from airflow_partitions.engine.runs.task_rows import instance_columns, is_live

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select
    from sqlalchemy.orm import Session

#: What is said of a task that has noted nothing.
KILLED = "no exception was noted: its process was killed, or could not begin; its log may say more"
#: And of a run.
NO_TASK = "no task failed: the run took too long, was ended by hand, or its tasks could not begin"


@attrs.frozen
class RunError:
    """What made a run fail.

    :ivar ended: when the run did; aware.
    :ivar task_id: the first of its tasks that failed and told why, or the first that failed; ``None`` if none did.
    :ivar text: in one line.
    """

    ended: datetime | None
    task_id: str | None
    text: str


def run_errors(connection: Session | Connection, run_ids: Iterable[int]) -> dict[int, RunError]:
    """What made those of some runs fail that did, by the runs' numbers: one question for a thousand of them."""
    errors: dict[int, RunError] = {}
    rows: Any
    for portion in portions(sorted(run_ids)):
        rows = connection.execute(_failed_tasks(), {"run_ids": portion})
        for number, ended, task_id, task_ended, tries, cell in rows:
            text = NO_TASK if task_id is None else _text(cell, tries)
            # The first of several, if one of them has noted why.
            if number not in errors or (errors[number].text == KILLED and text != KILLED):
                errors[number] = RunError(ended or task_ended, task_id, text)
    return errors


@cache
def _failed_tasks() -> Select[int, datetime | None, str, datetime | None, int, str]:
    from airflow.models.dagrun import DagRun
    from airflow.models.task_state_store import TaskStateStoreModel as Cell
    from airflow.models.taskinstance import TaskInstance as Task
    from airflow.utils.state import DagRunState, TaskInstanceState

    has_failed = and_(
        Task.dag_id == DagRun.dag_id,
        Task.run_id == DagRun.run_id,
        Task.state == TaskInstanceState.FAILED,
        is_live(Task),
    )
    noted = and_(
        Cell.dag_run_id == DagRun.id,
        Cell.task_id == Task.task_id,
        *(getattr(Cell, name) == getattr(Task, name) for name in instance_columns()),
        Cell.key == TASK_ERROR,
    )
    return (
        select(DagRun.id, DagRun.end_date, Task.task_id, Task.end_date, Task.try_number, Cell.value)
        .join(Task, has_failed, isouter=True)
        .join(Cell, noted, isouter=True)
        .where(DagRun.state == DagRunState.FAILED, DagRun.id.in_(bindparam("run_ids", expanding=True)))
        .order_by(DagRun.id, Task.end_date, Task.task_id, Task.map_index)
    )


def _text(cell: str | None, tries: int) -> str:
    """What the last of a task's *tries* has noted."""
    error = None if cell is None else read_error(cell)
    return KILLED if error is None or error.try_number != tries else error.text
