"""Jobs elsewhere under a real scheduler and triggerer: no worker is held while they run."""

from __future__ import annotations

import json
import threading
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions.core.errors import ForeignRowsError
from airflow_partitions.spark.job_result import save_error
from tests.scheduler.conftest import Airflow
from tests.spark.engines.clusters import CLUSTERS, ClusterStandIn
from tests.spark.engines.platforms import EmrServerlessStandIn, kubernetes_connection
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
        airflow.wait(lambda: left(airflow, name) == count, "the scheduler knows that they hold no worker", seconds=400)
        all_there.set()
        states = {key: state for key, state, _ in airflow.wait_finished(name, count)}
    assert states == {**dict.fromkeys(keys, "success"), keys[-1]: "failed"}
    assert sorted(airflow.events(name)) == keys[:-1]
    folders = sorted(folder.name for folder in (airflow.home.lake / name).glob("day=*"))
    assert folders == [f"day={key}" for key in keys[:-1]]
    assert len(platform.jobs) == count


def left(airflow: Airflow, dag_id: str) -> int:
    """How many deferred tasks have left their workers as the scheduler knows it.

    A task that is to go on before that is failed: Airflow takes the first worker's end for that of the second
    (``BaseExecutor.heartbeat`` of 3.3.2), on a busy machine for a job that ends at once.
    """
    lines = airflow.services.log("scheduler").read_text().splitlines()
    return sum(f"Finished: dag_id={dag_id}," in line and "state=deferred" in line for line in lines)


SUBMITTED = """
import os
from airflow_partitions import spark_asset
from airflow_partitions.storage import Parquet

@spark_asset(schedule=None, max_active_runs=60, partition=PartitionByInterval("@daily", start="2013-01-01"),
             conn_id="NAME", deferrable=True, submit={"spark_binary": BINARY},
             storage=Parquet(os.environ["AIRFLOW_PARTITIONS_LAKE"] + "/NAME", partition_on={"day": "%Y-%m-%d"}),
             default_args={"pool": "NAME", "retries": 0})
def NAME(spark):
    return spark.range(3)
"""


@pytest.mark.long
@pytest.mark.parametrize("kind", CLUSTERS)
def test_jobs_of_spark_submit_leave_their_worker_to_others(airflow: Airflow, tmp_path: Path, kind: str) -> None:
    cluster, all_there, name = CLUSTERS[kind](tmp_path), threading.Event(), f"submitted_{kind.lower()}"
    made, failed, ended = keys = ["2013-01-01", "2013-01-02", "2013-01-03"]

    def work(handover: Any) -> None:
        if handover.partition.text == ended:
            (job,) = (job for job in cluster.jobs.values() if job.token == handover.attempt.name)
            assert job.is_cancelled.wait(500)
            return
        assert all_there.wait(500)
        if handover.partition.text == failed:
            save_error(handover.staging, ForeignRowsError("3 rows belong elsewhere"))
            raise RuntimeError
        Cluster().succeed(handover)

    cluster.work = work
    with cluster.serving() as url:
        airflow.api.post("pools", {"name": name, "slots": 1, "include_deferred": False})
        api = {"connection_id": f"{name}_api", **json.loads(kubernetes_connection(tmp_path, url))}
        airflow.api.post("connections", {**api, "extra": json.dumps(api["extra"])})
        extra = {"deploy-mode": "cluster", "kubernetes_conn_id": f"{name}_api", **cluster.extra(url)}
        connection = {"connection_id": name, "conn_type": "spark", "host": cluster.host}
        airflow.api.post("connections", {**connection, "extra": json.dumps(extra)})
        airflow.write(name, SUBMITTED.replace("BINARY", repr(str(cluster.install(url)))).replace("NAME", name))
        for key in keys:
            assert airflow.trigger(name, key).status_code == 200
        # More often than the tasks do it: until the triggerer has the waits, nobody would end a job.
        airflow.wait(lambda: asked_often(cluster) == len(keys), "the triggerer asks for all of them", seconds=400)
        (run,) = (run_id for key, _, run_id in airflow.runs(name) if key == ended)
        airflow.api.patch(f"dags/{name}/dagRuns/{run}/taskInstances/{name}", {"new_state": "failed"})
        airflow.wait(lambda: "cancelled" in {job.state for job in cluster.jobs.values()}, "its driver is ended")
        all_there.set()
        states = {key: state for key, state, _ in airflow.wait_finished(name, 3)}
    assert states == {made: "success", failed: "failed", ended: "failed"}
    assert airflow.events(name) == [made]
    assert cluster.submits == len(keys)


def asked_often(cluster: ClusterStandIn) -> int:
    """For how many of its drivers it was asked more than twice."""
    asked = [path.rpartition("/")[2] for method, path, _ in cluster.calls if method == "GET"]
    return sum(asked.count(cluster.name(job)) > 2 for job in tuple(cluster.jobs.values()))
