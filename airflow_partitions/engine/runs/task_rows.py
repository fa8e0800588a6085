"""Airflow's rows of tasks, where its releases keep them differently.

Up to 3.3 the row of a task is its newest try, and earlier ones lie in a history of their own. Since 3.4 each try is a
row, of which one is the live one. Airflow's own session asks for that alone; statements of a connection have to say it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, case, true


def is_live(task: Any) -> ColumnElement[bool]:
    """Whether a row of *task*, which is the model of tasks or its table, is the newest try of its task."""
    columns = getattr(task, "c", task)
    return columns.working_set.is_(True) if hasattr(columns, "working_set") else true()


def next_try(task: Any) -> ColumnElement[int]:
    """The number of the try that begins next for a row of *task*; since 3.4 its row has it already, unless it is 0."""
    columns = getattr(task, "c", task)
    if hasattr(columns, "working_set"):
        return case((columns.try_number == 0, 1), else_=columns.try_number)
    return columns.try_number + 1  # type: ignore[no-any-return]


def instance_columns() -> tuple[str, ...]:
    """What tells the instances of one task of a run apart, in the rows of instances and of their cells.

    Since 3.4 an index is one within a region: a turn of a loop, or a group of mapped tasks.
    """
    from airflow.models.task_state_store import TaskStateStoreModel as Cell

    return ("map_index",) if hasattr(Cell, "map_index") else ("region_id", "region_index")
