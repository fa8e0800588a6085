"""A long history put into Airflow's database: events and runs."""

from __future__ import annotations

from datetime import datetime, timedelta

from airflow import settings
from airflow.models.asset import AssetEvent, AssetModel
from airflow.models.dagrun import DagRun
from airflow.models.taskinstance import TaskInstance
from airflow.utils.session import create_session
from sqlalchemy import insert, select


def add_history(name: str, keys: list[str], start: datetime, *, runs: bool) -> None:
    """An event of the asset for each of its *keys*, some milliseconds after each other, and a run of its Dag."""
    with create_session() as session:
        asset_id = session.scalar(select(AssetModel.id).where(AssetModel.name == name))
    rows = [
        {
            "asset_id": asset_id,
            "partition_key": key,
            "extra": {"rows": 7, "files": 1, "bytes": 1234},
            "timestamp": start + timedelta(milliseconds=10 * i),
            "source_dag_id": name,
            "source_run_id": f"made {key}",
        }
        for i, key in enumerate(keys)
    ]
    with settings.engine.begin() as connection:
        for i in range(0, len(rows), 10_000):
            connection.execute(insert(AssetEvent), rows[i : i + 10_000])
    if runs:
        _add_runs(name, keys, start)


def add_noise(dag_id: str, keys: list[str], start: datetime) -> None:
    """A later run of the Dag for each of its *keys* that failed."""
    times = {"queued_at": start, "start_date": start, "end_date": start, "run_after": start}
    run = {"dag_id": dag_id, "log_template_id": None, "run_type": "manual", "state": "failed", **times}
    rows = [run | {"run_id": f"failed {key}", "partition_key": key} for key in keys]
    with settings.engine.begin() as connection:
        for i in range(0, len(rows), 10_000):
            connection.execute(insert(DagRun.__table__), rows[i : i + 10_000])


def _add_runs(dag_id: str, keys: list[str], start: datetime) -> None:
    from uuid import uuid4

    from airflow.models.dag_version import DagVersion

    with settings.engine.begin() as connection:
        version = connection.scalar(select(DagVersion.id).where(DagVersion.dag_id == dag_id))
        for i in range(0, len(keys), 10_000):
            some = keys[i : i + 10_000]
            times = {"queued_at": start, "start_date": start, "end_date": start, "run_after": start}
            run = {"dag_id": dag_id, "log_template_id": None, "run_type": "manual", "state": "success", **times}
            connection.execute(
                insert(DagRun.__table__), [run | {"run_id": f"made {key}", "partition_key": key} for key in some]
            )
            task = {
                "dag_id": dag_id, "task_id": dag_id, "state": "success", "map_index": -1, "pool": "default_pool",
                "pool_slots": 1, "try_number": 1, "max_tries": 0, "queue": "default", "priority_weight": 1,
                "dag_version_id": version, "custom_operator_name": "", "executor_config": {},
            }  # fmt: skip
            rows = [task | {"id": uuid4(), "run_id": f"made {key}"} for key in some]
            connection.execute(insert(TaskInstance.__table__), rows)
    with settings.engine.connect() as connection:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        if connection.dialect.name == "postgresql":
            from sqlalchemy import text

            connection.execute(text("ANALYZE"))
