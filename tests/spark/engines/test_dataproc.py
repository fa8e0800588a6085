"""Dataproc: what a batch and a job are told, and what a failed one tells."""

from __future__ import annotations

import asyncio
import threading
from time import sleep
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred
from airflow.sdk.module_loading import import_string

from airflow_partitions.core.errors import SparkServerError
from airflow_partitions.spark.engines import DataprocCluster, DataprocServerless, SparkJob
from airflow_partitions.spark.engines.job import PROGRAM
from airflow_partitions.spark.handover import Handover
from tests.spark.engines.dataproc import HOST
from tests.spark.engines.test_platforms import Killed, killed_while_it_waits
from tests.spark.operator_task import context, task
from tests.spark.submissions import Cluster
from tests.spark.test_operator import content

pytestmark = [
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
SERVERLESS = pytest.mark.parametrize("platform", ["Dataproc Serverless"], indirect=True)
CLUSTER = pytest.mark.parametrize("platform", ["Dataproc cluster"], indirect=True)
BOTH = pytest.mark.parametrize("platform", ["Dataproc Serverless", "Dataproc cluster"], indirect=True)


@SERVERLESS
def test_what_a_batch_is_told(lake: Any, platform: Any, mounted: Any) -> None:
    platform.work = Cluster().succeed
    batch = {
        "labels": {"team": "{{ partition['airport'] | lower }}"},
        "runtime_config": {"version": "2.3", "properties": {"spark.a": "1", "spark.b": "{{ partition.text }}"}},
        "environment_config": {"execution_config": {"service_account": "spark@flights.example"}},
        "pyspark_batch": {"python_file_uris": ["gs://code/mine.zip"], "jar_file_uris": ["gs://code/mine.jar"]},
    }
    engine = platform.engine(**mounted, batch=batch, conf={"spark.c": "2"})
    task(lake, engine=engine, conf={"spark.a": "of the asset"}, application_args=["x"]).execute(context(lake))
    assert content(lake) == "1"
    (asked,) = [request for method, _, request in platform.calls if method == "CreateBatch"]
    (job,) = platform.jobs.values()
    assert platform.tunnel.hosts == {f"{HOST}:443"}
    assert asked.batch_id == f"partition-{job.token}"
    assert dict(asked.batch.labels) == {"team": "ewr"}
    assert asked.batch.runtime_config.version == "2.3"
    assert asked.batch.environment_config.execution_config.service_account == "spark@flights.example"
    _check_python(asked.batch.pyspark_batch, asked.batch.runtime_config.properties, job)


@CLUSTER
def test_what_a_job_is_told(lake: Any, platform: Any, mounted: Any) -> None:
    platform.work = Cluster().succeed
    own = {
        "labels": {"team": "{{ partition['airport'] | lower }}"},
        "pyspark_job": {
            "python_file_uris": ["gs://code/mine.zip"],
            "jar_file_uris": ["gs://code/mine.jar"],
            "properties": {"spark.a": "1", "spark.b": "{{ partition.text }}"},
        },
    }
    engine = platform.engine(**mounted, job=own, conf={"spark.c": "2"})
    task(lake, engine=engine, conf={"spark.a": "of the asset"}, application_args=["x"]).execute(context(lake))
    assert content(lake) == "1"
    (asked,) = [request for method, _, request in platform.calls if method == "SubmitJob"]
    (job,) = platform.jobs.values()
    assert platform.tunnel.hosts == {f"{HOST}:443"}
    assert asked.job.reference.job_id == f"partition-{job.token}"
    assert dict(asked.job.labels) == {"team": "ewr"}
    _check_python(asked.job.pyspark_job, asked.job.pyspark_job.properties, job)


def _check_python(python: Any, properties: Any, job: Any) -> None:
    conf = {name: properties[name] for name in ("spark.a", "spark.b", "spark.c")}
    assert conf == {"spark.a": "of the asset", "spark.b": "2013-01-02|EWR", "spark.c": "2"}
    assert list(python.args) == ["x"]
    assert list(python.jar_file_uris) == ["gs://code/mine.jar"]
    own, ours = python.python_file_uris
    folder = python.main_python_file_uri.removesuffix("/make_partition.py")
    assert own == "gs://code/mine.zip"
    assert ours.startswith(f"{folder}/airflow_partitions-")
    assert folder.startswith("file:///")  # a path without a scheme would be one of HDFS
    assert folder.endswith(job.token)


@pytest.mark.parametrize(
    "engine", [DataprocServerless(region="europe-west1"), DataprocCluster(region="europe-west1", cluster_name="etl")]
)
def test_a_bucket_is_called_by_one_name(engine: Any) -> None:
    assert engine.url("gcs://lake/delays") == engine.url("gs://lake/delays") == "gs://lake/delays"


@pytest.mark.parametrize(
    ("platform", "templated"), [("Dataproc Serverless", {"batch", "batch_id"}), ("Dataproc cluster", {"job"})],
    indirect=["platform"],
)  # fmt: skip
def test_its_arguments_are_template_fields_of_the_operator(
    lake: Any, platform: Any, mounted: Any, templated: set[str]
) -> None:
    job = SparkJob(name="delays", token="0-1-0", application=PROGRAM, handovers=[lake.handover()])
    operator = platform.engine(**mounted).operator(job)
    assert templated | {"region", "project_id", "gcp_conn_id"} <= set(type(operator).template_fields)


@pytest.mark.parametrize(
    ("platform", "reason"),
    [("Dataproc Serverless", "failed with error: batch failed"), ("Dataproc cluster", "as ERROR: driver failed")],
    indirect=["platform"],
)
def test_what_dataproc_says_of_a_failed_job_is_told(lake: Any, platform: Any, mounted: Any, reason: str) -> None:
    def fail(_: Handover) -> None:
        raise RuntimeError

    platform.work = fail
    with pytest.raises(SparkServerError, match=reason):
        task(lake, engine=platform.engine(**mounted)).execute(context(lake))


@BOTH
def test_a_job_that_an_earlier_try_began_is_cancelled_too(lake: Any, platform: Any, mounted: Any) -> None:
    def wait(handover: Handover) -> None:
        if len(platform.jobs) == 1:
            assert platform.jobs[1].is_cancelled.wait(60)
        else:
            Cluster().succeed(handover)

    platform.work = wait
    operator = task(lake, engine=platform.engine(**mounted))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.sleep", killed_while_it_waits)
        with pytest.raises(Killed):
            operator.execute(context(lake))
    begun = len(platform.calls)

    def end() -> None:
        while len(platform.calls) < begun + 3:  # it is looked at
            sleep(0.01)
        operator.on_kill()

    ending = threading.Thread(target=end)
    ending.start()
    operator.execute(context(lake, 2))  # finds it cancelled, and makes its own, since nobody ends this process
    ending.join()
    assert [job.state for job in platform.jobs.values()] == ["cancelled", "succeeded"]


@BOTH
def test_a_task_that_is_ended_while_it_waits_without_a_worker_cancels_its_job(
    lake: Any, platform: Any, mounted: Any
) -> None:
    def wait(_: Handover) -> None:
        assert platform.jobs[1].is_cancelled.wait(60)

    platform.work = wait
    with pytest.raises(TaskDeferred) as deferred:
        task(lake, engine=platform.engine(**mounted, deferrable=True)).execute(context(lake))
    kind, arguments = deferred.value.trigger.serialize()
    asyncio.run(import_string(kind)(**arguments).on_kill())  # by the triggerer, which has this of it
    assert platform.jobs[1].state == "cancelled"


@BOTH
def test_what_fails_for_a_moment_is_asked_again(lake: Any, platform: Any, mounted: Any) -> None:
    def fail_for_a_moment(handover: Handover) -> None:
        platform.faults = [429, 500, 0]
        Cluster().succeed(handover)

    platform.work = fail_for_a_moment
    task(lake, engine=platform.engine(**mounted, arguments={})).execute(context(lake))
    assert content(lake) == "1"
    assert platform.faults == []
    assert len(platform.jobs) == 1
