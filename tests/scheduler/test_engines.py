"""Jobs of a managed engine under a real scheduler and triggerer: no worker is held while they run."""

from __future__ import annotations

import threading
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
    aws_conn_id="emr_stand_in", mounts=[LAKE], poll_seconds=1, deferrable=True,
)

@spark_asset(schedule=None, partition=PartitionByInterval("@daily", start="2013-01-01"), engine=EMR,
             storage=Parquet(f"{LAKE}/managed", partition_on={"day": "%Y-%m-%d"}),
             default_args={"pool": "two_slots", "retries": 0})
def managed(spark):
    return spark.range(3)
"""
KEYS = [f"2013-01-{day:02d}" for day in range(1, 7)]


def test_more_jobs_run_than_there_are_workers(airflow: Airflow, tmp_path: Path) -> None:
    platform, all_there = EmrServerlessStandIn(tmp_path), threading.Event()

    def work(handover: Any) -> None:
        assert all_there.wait(300)
        if handover.partition.text == KEYS[-1]:
            save_error(handover.staging, ForeignRowsError("3 rows belong elsewhere"))
            raise RuntimeError
        Cluster().succeed(handover)

    platform.work = work
    with platform.serving() as url:
        airflow.api.post("pools", {"name": "two_slots", "slots": 2, "include_deferred": False})
        extra = f'{{"endpoint_url": "{url}", "region_name": "us-east-1"}}'
        connection = {"connection_id": "emr_stand_in", "conn_type": "aws", "login": "somebody", "password": "secret"}
        airflow.api.post("connections", {**connection, "extra": extra})
        airflow.write("managed", DAG)
        for key in KEYS:
            assert airflow.trigger("managed", key).status_code == 200
        airflow.wait(lambda: len(platform.jobs) == len(KEYS), "a job for each run, at the same time", seconds=240)
        all_there.set()
        states = {key: state for key, state, _ in airflow.wait_finished("managed", len(KEYS))}
    assert states == {**dict.fromkeys(KEYS[:-1], "success"), KEYS[-1]: "failed"}
    assert sorted(airflow.events("managed")) == KEYS[:-1]
    assert sorted(folder.name for folder in (airflow.home.lake / "managed").glob("day=*")) == [
        f"day={key}" for key in KEYS[:-1]
    ]
    assert len(platform.jobs) == len(KEYS)
