"""Glue: what a run is told, and which values it can't be told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred

from airflow_partitions.core.errors import InvalidDefinitionError, SparkServerError
from airflow_partitions.spark.engines import Glue, SparkJob
from airflow_partitions.spark.engines.glue_run import TOKEN
from airflow_partitions.spark.engines.job import PROGRAM
from airflow_partitions.spark.handover import Handover
from tests.spark.engines.test_platforms import next_event
from tests.spark.operator_task import context, task
from tests.spark.submissions import Cluster
from tests.spark.test_operator import content

pytestmark = [
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ONLY = pytest.mark.parametrize("platform", ["Glue"], indirect=True)


@ONLY
def test_what_a_run_is_told(lake: Any, platform: Any, mounted: Any) -> None:
    platform.work = Cluster().succeed
    engine = platform.engine(
        **mounted,
        conf={"spark.executor.memory": "4g"},
        script_args={
            "--additional-python-modules": "pyarrow,s3fs",
            "--conf": "spark.a=1 --conf spark.b={{ partition.text }}",
            "--extra-py-files": "s3://code/mine.zip",
        },
        run_arguments={"WorkerType": "G.1X", "NumberOfWorkers": 4},
    )
    task(lake, engine=engine, conf={"spark.c": "2"}).execute(context(lake))
    assert content(lake) == "1"
    (body,) = [body for _, path, body in platform.calls if path.endswith("StartJobRun")]
    arguments = body["Arguments"]
    assert (body["WorkerType"], body["NumberOfWorkers"]) == ("G.1X", 4)
    assert arguments["--additional-python-modules"] == "pyarrow,s3fs"
    assert arguments["--conf"].startswith("spark.a=1 --conf spark.b=2013-01-02|EWR --conf ")
    assert " --conf spark.executor.memory=4g" in arguments["--conf"]
    assert " --conf spark.c=2" in arguments["--conf"]
    code, ours = arguments["--extra-py-files"].split(",")
    assert code == "s3://code/mine.zip"
    folder = arguments["--scriptLocation"].removesuffix("/make_partition.py")
    assert ours.startswith(f"{folder}/airflow_partitions-")
    assert folder.endswith(arguments[TOKEN])


def test_a_property_with_a_blank_is_refused(lake: Any) -> None:
    job = SparkJob(
        name="delays", token="0-1-0", application=PROGRAM, handovers=[lake.handover()], conf={"spark.a": "b c"}
    )
    with pytest.raises(InvalidDefinitionError, match=r"Spark property spark\.a='b c': Glue takes all .* parts it at"):
        Glue(job_name="flights").operator(job)


@ONLY
def test_words_of_a_program_are_refused(lake: Any, platform: Any, mounted: Any) -> None:
    with pytest.raises(InvalidDefinitionError, match="application_args belongs to spark-submit, and its engine is a"):
        task(lake, engine=platform.engine(**mounted), function=None, application="s3://a/b.py", application_args=["x"])


@ONLY
def test_its_arguments_are_template_fields_of_the_operator(lake: Any, platform: Any, mounted: Any) -> None:
    job = SparkJob(name="delays", token="0-1-0", application=PROGRAM, handovers=[lake.handover()])
    operator = platform.engine(**mounted).operator(job)
    assert {"job_name", "script_args", "run_job_kwargs"} <= set(type(operator).template_fields)


@ONLY
def test_a_job_that_glue_does_not_have(lake: Any, platform: Any, mounted: Any) -> None:
    from airflow_partitions.core.errors import UnansweredError

    def answer(method: str, path: str, _: Any) -> Any:
        raise LookupError("Entity Not Found")

    platform.answer = answer
    with pytest.raises(UnansweredError, match="Entity Not Found"):
        task(lake, engine=platform.engine(**mounted)).execute(context(lake))
    assert platform.jobs == {}


@pytest.mark.parametrize("deferrable", [False, True])
@ONLY
def test_a_run_that_has_expired_is_not_waited_for(lake: Any, platform: Any, mounted: Any, deferrable: bool) -> None:
    def expire(_: Handover) -> None:
        platform.jobs[1].state = "expired"

    platform.work = expire
    operator = task(lake, engine=platform.engine(**mounted, deferrable=deferrable))

    def make() -> None:
        try:
            operator.execute(context(lake))
        except TaskDeferred as deferred:
            event = asyncio.run(next_event(deferred.trigger))
            operator.resume(context(lake), event=event, **(deferred.kwargs or {}))

    with pytest.raises(SparkServerError, match="EXPIRED"):
        make()
    platform.work = Cluster().succeed
    task(lake, engine=platform.engine(**mounted)).execute(context(lake, 2))  # starts another
    assert content(lake) == "1"
