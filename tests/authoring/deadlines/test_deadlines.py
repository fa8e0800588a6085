"""Deadlines of partitions on a real metadata database: Airflow's alerts, and what is late."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, asset_dags
from airflow_partitions.operate.contract.late import ListLate
from airflow_partitions.operate.operations import answer
from airflow_partitions.operate.operations.late import late_partitions
from tests.metadata import LONG_AGO, Metadata

pytestmark = pytest.mark.airflow

DAG_FILE = """
from datetime import timedelta

from airflow.sdk.definitions.callback import AsyncCallback
from airflow.sdk.definitions.deadline import DeadlineAlert
from airflow_partitions import PartitionDeadline

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-02-01", end="2013-03-01")

def alert(interval):
    return DeadlineAlert(PartitionDeadline("06:00"), interval, AsyncCallback("asyncio.sleep"))

@asset(schedule="@daily", partition=DAYS, deadline=alert(timedelta(minutes=30)))
def flights(partition): ...

@asset(schedule="@daily", partition=DAYS)
def carriers(partition): ...
"""


@pytest.fixture
def dags(metadata: Metadata, tmp_path: Path) -> Metadata:
    metadata.parse(tmp_path, files=DAG_FILE)
    metadata.prepare_runs()
    return metadata


def due(metadata: Metadata, run_type: str, key: str) -> list[str]:
    """The deadlines of a new run, as Airflow keeps them."""
    from airflow.models.deadline import Deadline
    from airflow.models.serialized_dag import SerializedDagModel
    from airflow.utils.types import DagRunTriggeredByType, DagRunType

    with Session(metadata.engine) as at:
        row = SerializedDagModel.get("flights", session=at)
        assert row is not None
        dag: Any = row.dag
        run = dag.create_dagrun(
            run_id=f"{run_type}__{key}",
            run_after=LONG_AGO,
            run_type=DagRunType(run_type),
            triggered_by=DagRunTriggeredByType.TEST,
            state="queued",
            partition_key=key,
            session=at,
        )
        at.flush()
        times = at.scalars(select(Deadline.deadline_time).where(Deadline.dagrun_id == run.id)).all()
        at.rollback()
        return [time.astimezone(UTC).isoformat() for time in times]


def test_runs_of_the_schedule_and_of_events_are_due_by_their_partition(dags: Metadata) -> None:
    for run_type in ("scheduled", "asset_triggered"):
        assert due(dags, run_type, "2013-02-08") == ["2013-02-09T11:30:00+00:00"]


def test_runs_that_somebody_asks_for_and_runs_of_what_is_there_have_no_deadline(dags: Metadata) -> None:
    for run_type in ("manual", "backfill"):
        assert due(dags, run_type, "2013-02-08") == []
    dags.emit("flights", "2013-02-08")
    assert due(dags, "scheduled", "2013-02-08") == []
    assert due(dags, "scheduled", "2013-02-09") != []


def fail(asset: PartitionedAsset, error: Exception) -> None:
    raise error


def test_what_is_due_and_not_there_is_late(dags: Metadata) -> None:
    days = [f"2013-02-{day:02}" for day in range(1, 29)]
    dags.emit("flights", *days[:20], *days[22:])
    assert answer(ListLate(asset="flights")) == {
        "asset": "flights",
        "deadlines": [{"due": "06:00 and 0:30:00", "count": 2, "partitions": "2013-02-21 to 2013-02-22"}],
    }
    assert answer(ListLate(asset="carriers")) == {"asset": "carriers", "deadlines": []}
    (note,) = map(str, late_partitions(asset_dags().values(), fail))
    assert note == "asset 'flights': 2 partitions late, due by 06:00 and 0:30:00: 2013-02-21 to 2013-02-22"
    dags.emit("flights", *days[20:22], at=datetime.now(UTC))
    assert list(late_partitions(asset_dags().values(), fail)) == []


def test_what_is_not_due_yet_is_not_late(metadata: Metadata, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    endless = DAG_FILE.replace('start="2013-02-01", end="2013-03-01"', f'start="{now - timedelta(days=9):%Y-%m-%d}"')
    metadata.parse(tmp_path, files=endless.replace('"06:00"', "timedelta(days=4)"))
    (late,) = answer(ListLate(asset="flights"))["deadlines"]
    assert late["count"] in (4, 5)
