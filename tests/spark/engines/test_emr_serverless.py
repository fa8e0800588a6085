"""EMR Serverless with its storage on S3, and a task that is really killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions import Partition
from airflow_partitions.spark.handover import PROPERTY, Handover
from airflow_partitions.spark.shipping import ship
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.filesystem.filesystem import at
from tests.conftest import packages_on_class_path
from tests.spark.conftest import DAILY, HOURLY
from tests.spark.in_process import good
from tests.spark.operator_task import FUNCTION, KEY, context, execute, task
from tests.spark.submissions import Cluster
from tests.spark.test_driver_elsewhere import LakeOnS3
from tests.spark.test_operator import content

pytestmark = [
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ONLY = pytest.mark.parametrize("platform", ["EMR Serverless"], indirect=True)


@pytest.mark.spark
@ONLY
def test_all_that_task_and_job_share_is_the_bucket(endpoint: str, platform: Any) -> None:
    import pyarrow as pa

    at("s3://managed").mkdir()
    flights = Parquet("s3://managed/flights", partition=HOURLY, partition_on={"hour": "%Y-%m-%dT%H:%M%z"})
    rows = pa.table({"origin": ["EWR", "JFK"], "delay": [1.0, 2.0]})
    flights.save(dict.fromkeys(HOURLY.keys(start="2013-01-02", end="2013-01-03"), rows))
    made = Parquet("s3://managed/made", partition_on={"date": "%Y-%m-%d", "airport": "{airport}"}).of(DAILY)
    platform.settings |= {
        "spark.hadoop.fs.s3a.endpoint": endpoint,
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
    }
    operator = task(LakeOnS3(flights, made), engine=platform.engine(), function=ship(good, inputs=["flights"]))
    with packages_on_class_path():
        event = execute(operator, LakeOnS3(flights, made))
    assert (event["rows"], event["reads"]["flights"]["files"], event["reads"]["flights"]["rows"]) == (1, 24, 48)
    assert made.read([Partition(DAILY, KEY)], as_="arrow")["most"].to_pylist() == [1.0]
    (job,) = platform.jobs.values()
    places = [job.order.program, *job.order.py_files, job.order.conf[PROPERTY].partition("@")[0]]
    assert {place.partition("_made/staging/")[0] for place in places} == {"s3://managed/"}
    assert [place.rpartition("/")[2][:18] for place in places] == [
        "make_partition.py",
        "airflow_partitions",
        "handover.json",
    ]


@ONLY
def test_what_the_operator_of_airflow_is_told(lake: Any, platform: Any, mounted: Any) -> None:
    platform.work = Cluster().succeed
    logs = {"monitoringConfiguration": {"s3MonitoringConfiguration": {"logUri": "s3://logs/{{ partition }}"}}}
    classes = [{"classification": "spark-driver-log4j2", "properties": {"rootLogger.level": "error"}}]
    engine = platform.engine(
        **mounted,
        conf={"spark.executor.memory": "4g", "spark.a": "{{ partition.text }}"},
        configuration_overrides={**logs, "applicationConfiguration": classes},
        arguments={"config": {"executionTimeoutMinutes": 30}},
    )
    platform.answer = answering(platform.answer)
    operator = task(
        lake, engine=engine, conf={"spark.executor.memory": "8g"}, py_files=__file__, application_args=["x"]
    )
    operator.execute(context(lake))
    (body,) = [body for method, _, body in platform.calls if method == "POST"]
    (job,) = platform.jobs.values()
    folder = job.order.program.removesuffix("/make_partition.py")
    assert folder.startswith(f"{lake.root}/_delays/staging/{job.token}")
    assert body["jobDriver"]["sparkSubmit"]["entryPointArguments"] == ["x"]
    assert body["jobDriver"]["sparkSubmit"]["sparkSubmitParameters"].startswith(
        f"--py-files {folder}/test_emr_serverless.py,{folder}/airflow_partitions-"
    )
    overrides = body["configurationOverrides"]
    assert overrides["monitoringConfiguration"]["s3MonitoringConfiguration"]["logUri"] == f"s3://logs/{KEY}"
    assert overrides["applicationConfiguration"][0] == classes[0]
    properties = overrides["applicationConfiguration"][1]["properties"]
    assert (properties["spark.executor.memory"], properties["spark.a"]) == ("8g", KEY)
    assert body["executionTimeoutMinutes"] == 30


def answering(answer: Any) -> Any:
    """The stand-in looks at one class of settings: the last."""

    def only_last(method: str, path: str, body: Any) -> Any:
        if method == "POST":
            overrides = body["configurationOverrides"]
            last = {**overrides, "applicationConfiguration": overrides["applicationConfiguration"][-1:]}
            body = {**body, "configurationOverrides": last}
        return answer(method, path, body)

    return only_last


@ONLY
def test_its_arguments_are_template_fields_of_the_operator(lake: Any, platform: Any, mounted: Any) -> None:
    from airflow_partitions.spark.engines import SparkJob
    from airflow_partitions.spark.engines.job import PROGRAM

    job = SparkJob(name="delays", token="0-1-0", application=PROGRAM, handovers=[lake.handover()])
    operator = platform.engine(**mounted).operator(job)
    templated = set(type(operator).template_fields)
    assert {"application_id", "execution_role_arn", "job_driver", "configuration_overrides", "name"} <= templated
    assert operator.client_request_token == "0-1-0"


TASK = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from tests.spark.conftest import Lake
from tests.spark.engines.platforms import EmrServerlessStandIn
from tests.spark.operator_task import context, task
lake = Lake(Path({root!r}))
engine = EmrServerlessStandIn(Path({root!r})).engine(mounts=[{root!r}])
task(lake, engine=engine).execute(context(lake))
"""


@pytest.mark.long
@ONLY
def test_a_task_that_is_killed_leaves_one_job(lake: Any, platform: Any, mounted: Any) -> None:
    goes_on = threading.Event()

    def wait(handover: Handover) -> None:
        assert goes_on.wait(60)
        assert handover.function == FUNCTION
        Cluster().succeed(handover)

    platform.work = wait
    program = TASK.format(path=sys.path, root=str(lake.root))
    process = subprocess.Popen([sys.executable, "-c", program], env=dict(os.environ))
    while len([call for call in platform.calls if call[0] == "GET"]) < 3:
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert content(lake) is None
    goes_on.set()
    task(lake, engine=platform.engine(**mounted)).execute(context(lake, 2))
    assert content(lake) == "1"
    (job,) = platform.jobs.values()
    assert "-1-" in job.token
    assert not list(Path(lake.root, "_delays", "staging").iterdir())
