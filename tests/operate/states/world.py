"""A small Airflow for tests of states: Dags, events, runs and pending rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import insert, select

from airflow_partitions.operate.states import State, Stretch, states_of
from tests.metadata import Metadata


def put_runs(metadata: Metadata, dag_id: str, keys: list[str], state: str, began: datetime, **values: Any) -> None:
    """A run of a Dag for each key."""
    from airflow.models.dagrun import DagRun

    rows = [
        {
            "dag_id": dag_id, "run_id": f"{dag_id} {key} {began.isoformat()}", "run_type": "manual", "state": state,
            "run_after": began, "queued_at": began, "start_date": None if state == "queued" else began,
            "partition_key": key, "log_template_id": None, **values,
        }
        for key in keys
    ]  # fmt: skip
    with metadata.engine.begin() as at:
        at.execute(insert(DagRun.__table__), rows)


def put_tasks(
    metadata: Metadata,
    dag_id: str,
    keys: list[str],
    task_id: str,
    state: str | None,
    began: datetime,
    tries: int = 1,
    **values: Any,
) -> None:
    """The task instances of runs of :func:`put_runs`."""
    from airflow.models.base import Base
    from airflow.models.dag_version import DagVersion

    with metadata.engine.begin() as at:
        version = at.scalar(select(DagVersion.id).where(DagVersion.dag_id == dag_id))
        rows = [
            {
                "id": uuid4(), "dag_id": dag_id, "task_id": task_id, "run_id": f"{dag_id} {key} {began.isoformat()}",
                "state": state, "map_index": -1, "pool": "default_pool", "pool_slots": 1, "try_number": tries,
                "max_tries": 0, "queue": "default", "priority_weight": 1, "dag_version_id": version,
                "custom_operator_name": "", "executor_config": {}, **values,
            }
            for key in keys
        ]  # fmt: skip
        at.execute(insert(Base.metadata.tables["task_instance"]), rows)


def put_pending(metadata: Metadata, dag_id: str, *keys: str) -> None:
    """Pending rows of a Dag."""
    from airflow.models.asset import AssetPartitionDagRun as Row

    with metadata.engine.begin() as at:
        at.execute(insert(Row), [{"target_dag_id": dag_id, "partition_key": key} for key in keys])


def shown(stretches: tuple[Stretch, ...]) -> list[tuple[str, str, str, int]]:
    """State, first, last and number of each stretch."""
    return [(str(one.state), str(one.first), str(one.last), one.count) for one in stretches]


def by_key(asset: str, now: datetime, **arguments: Any) -> dict[str, State]:
    """The state of each partition, as all pages tell it; no partition is told twice."""
    states: dict[str, State] = {}
    for stretch in _all(asset, now, **arguments):
        assert stretch.count == len(stretch.selection)
        for key in stretch.selection:
            assert states.setdefault(str(key), stretch.state) is stretch.state
    return states


def _all(asset: str, now: datetime, **arguments: Any) -> Iterator[Stretch]:
    cursor = None
    while True:
        page = states_of(asset, now=now, cursor=cursor, **arguments)
        yield from page.stretches
        cursor = page.cursor
        if cursor is None:
            return
