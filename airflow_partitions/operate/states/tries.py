"""Tries of the newest runs of partitions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from sqlalchemy import and_, func, select

from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.engine.database.connection import open_connection, portions
from airflow_partitions.engine.ledger.places import Places
from airflow_partitions.operate.states.by_start import ByStart


def newest_tries(places: Places, tasks: Mapping[str, Collection[str]]) -> ByStart[float | None]:
    """How often the task that makes an asset has been tried in the newest run of each partition that has begun one.

    :param tasks: those that write the asset, by the id of their Dag.
    """
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance as Task

    newest: dict[Any, tuple[int, int]] = {}
    with open_connection() as connection:
        for dag_id, task_ids in tasks.items():
            for portion in portions(sorted(task_ids)):
                query = (
                    select(DagRun.partition_key, DagRun.id, func.max(Task.try_number))
                    .join(Task, and_(Task.dag_id == DagRun.dag_id, Task.run_id == DagRun.run_id))
                    .where(DagRun.dag_id == dag_id, DagRun.partition_key.is_not(None))
                    .where(Task.task_id.in_(portion), Task.try_number > 0)
                    .group_by(DagRun.id, DagRun.partition_key)
                )
                for text, run, tries in connection.execute(query):
                    newest[text] = max(newest.get(text, (0, 0)), (run, tries))
    by_start: ByStart[float | None] = {}
    for text, (_, tries) in newest.items():
        with suppress(InvalidKeyError):  # of an older definition
            place = places.read(text)
            by_start.setdefault(place.start, {})[place.segments] = tries
    return by_start
