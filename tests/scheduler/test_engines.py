"""Jobs of a managed engine under a real scheduler and triggerer: no worker is held while they run."""

from __future__ import annotations

import threading
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions.core.errors import ForeignRowsError
from airflow_partitions.spark.job_result import save_error
from tests.scheduler.conftest import Airflow
from tests.spark.engines.platforms import EmrServerlessStandIn
from tests.spark.submissions import Cluster

DATABASES = ("sqlite",)  # where a job runs has nothing to do with the database
pytestmark = pytest.mark.airflow

DAG = """
import os
from airflow_partitions import spark_asset
from airflow_partitions.spark.engines import EmrServerless
from airflow_partitions.storage import Parquet

LAKE = os.environ["AIRFLOW_PARTITIONS_LAKE"]
EMR = EmrServerless(
    application_id="app", execution_role_arn="arn:aws:iam::123456789012:role/{{ 'spark' }}",
    aws_conn_id="NAME", mounts=[LAKE], poll_seconds=1, deferrable=True,
)

@spark_asset(schedule=None, max_active_runs=60, partition=PartitionByInterval("@daily", start="2013-01-01"), engine=EMR,
             storage=Parquet(f"{LAKE}/NAME", partition_on={"day": "%Y-%m-%d"}),
             default_args={"pool": "NAME", "retries": 0})
def NAME(spark):
    return spark.range(3)
"""


@pytest.mark.parametrize(("count", "slots"), [(6, 2), pytest.param(50, 4, marks=pytest.mark.long)])
def test_more_jobs_run_than_there_are_workers(airflow: Airflow, tmp_path: Path, count: int, slots: int) -> None:
    platform, all_there = EmrServerlessStandIn(tmp_path), threading.Event()
    name, keys = f"managed_{count}", [str(date(2013, 1, 1) + timedelta(day)) for day in range(count)]

    def work(handover: Any) -> None:
        assert all_there.wait(500)
        if handover.partition.text == keys[-1]:
            save_error(handover.staging, ForeignRowsError("3 rows belong elsewhere"))
            raise RuntimeError
        Cluster().succeed(handover)

    platform.work = work
    with platform.serving() as url:
        airflow.api.post("pools", {"name": name, "slots": slots, "include_deferred": False})
        extra = f'{{"endpoint_url": "{url}", "region_name": "us-east-1"}}'
        connection = {"connection_id": name, "conn_type": "aws", "login": "somebody", "password": "secret"}
        airflow.api.post("connections", {**connection, "extra": extra})
        airflow.write(name, DAG.replace("NAME", name))
        for key in keys:
            assert airflow.trigger(name, key).status_code == 200
        airflow.wait(lambda: len(platform.jobs) == count, "a job for each run, at the same time", seconds=400)
        all_there.set()
        states = {key: state for key, state, _ in airflow.wait_finished(name, count)}
    assert states == {**dict.fromkeys(keys, "success"), keys[-1]: "failed"}
    assert sorted(airflow.events(name)) == keys[:-1]
    folders = sorted(folder.name for folder in (airflow.home.lake / name).glob("day=*"))
    assert folders == [f"day={key}" for key in keys[:-1]]
    assert len(platform.jobs) == count
