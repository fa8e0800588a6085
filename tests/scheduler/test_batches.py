"""Batches under a real scheduler: one task makes the partitions of many runs, and each run keeps its own outcome."""

from __future__ import annotations

import json

import pytest

from tests.scheduler.conftest import Airflow
from tests.scheduler.test_requests import command

DATABASES = ("sqlite", "postgresql")
pytestmark = pytest.mark.airflow

DAG_FILE = """
import os
import pandas as pd
from airflow_partitions.storage import Parquet

LAKE = os.environ["AIRFLOW_PARTITIONS_LAKE"]
HOURS = PartitionByInterval("@hourly", start="2013-01-01")

@asset(
    schedule=None,
    partition=HOURS,
    batch=40,
    storage=Parquet(f"{LAKE}/batched", partition_on={"hour": "%Y-%m-%dT%H"}),
    default_args={"retries": 1, "retry_delay": dt.timedelta(seconds=1)},
)
def batched(partition) -> pd.DataFrame:
    with (OUT / "batched").open("a") as file:
        print(partition.text, os.getpid(), file=file)
    if partition.text == "2013-01-02T05:00Z":
        raise ValueError("not this one")
    return pd.DataFrame({"n": range(partition.start.hour + 1)})

@asset(schedule=batched, partition=PartitionByInterval("@daily", start="2013-01-01"))
def batched_days(partition): ...

with DAG("batches", schedule=None):
    EmptyOperator(task_id="nothing")
"""


@pytest.fixture(scope="module")
def batches(airflow: Airflow) -> Airflow:
    airflow.write("batches", DAG_FILE)
    airflow.wait(lambda: airflow.parsed("batched") and airflow.parsed("batched_days"), "the assets")
    return airflow


def test_each_run_of_a_batch_has_its_own_state_event_and_note(batches: Airflow) -> None:
    code, answer = command(batches, "materialize", "batched", "2013-01-01..2013-01-03")
    assert code == 0, answer
    runs = batches.wait_finished("batched", 48)
    assert {key for key, state, _ in runs if state == "failed"} == {"2013-01-02T05:00Z"}
    events = batches.sql(
        "select e.partition_key, e.source_run_id, e.extra from asset_event e join asset a on a.id = e.asset_id"
        " where a.name = 'batched'"
    )
    made = {key: run for key, state, run in runs if state == "success"}
    assert sorted((key, run) for key, run, _ in events) == sorted(made.items())
    assert {key: json.loads(extra)["rows"] for key, _, extra in events} == {key: int(key[11:13]) + 1 for key in made}
    lines = [line.split() for line in (batches.out / "batched").read_text().splitlines()]
    assert len({process for _, process in lines}) <= 6  # of 48 runs
    assert [key for key, _ in lines].count("2013-01-02T05:00Z") == 3  # in the batch, and its own two tries
    assert len(lines) == 50
    assert [(key, state) for key, state, _ in batches.wait_finished("batched_days", 1)] == [("2013-01-01", "success")]
    notes = dict(
        batches.sql(
            "select r.partition_key, n.content from dag_run r join dag_run_note n on n.dag_run_id = r.id"
            " where r.dag_id = 'batched'"
        )
    )
    assert "Made in the batch of run backfill__2013-01-01T00" in notes["2013-01-01T07:00Z"]
    assert notes["2013-01-01T07:00Z"].startswith(
        "Partition 2013-01-01T07:00Z: 2013-01-01 07:00 to 2013-01-01 08:00 UTC"
    )
