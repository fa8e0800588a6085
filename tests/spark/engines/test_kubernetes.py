"""Kubernetes: what an application says, and what a failed one tells."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_partitions.core.errors import SparkServerError, UnansweredError
from airflow_partitions.spark.engines import SparkJob
from airflow_partitions.spark.engines.job import PROGRAM
from airflow_partitions.spark.handover import Handover
from tests.spark.operator_task import context, task
from tests.spark.submissions import Cluster
from tests.spark.test_operator import content

pytestmark = [
    pytest.mark.usefixtures("airflow"),
    # Airflow's own, when its providers are imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.parametrize("platform", ["Kubernetes"], indirect=True),
]
SPEC = {
    "image": "spark:4.1",
    "sparkVersion": "4.1.3",
    "sparkConf": {"spark.a": "1", "spark.b": "{{ partition.text }}"},
    "deps": {"packages": ["org.example:own:1"], "pyFiles": ["s3a://code/mine.zip"]},
    "driver": {"serviceAccount": "spark", "memory": "2g"},
    "executor": {"instances": 2},
}


def test_what_an_application_says(lake: Any, platform: Any, mounted: Any) -> None:
    platform.work = Cluster().succeed
    engine = platform.engine(**mounted, spec=SPEC, conf={"spark.c": "2"})
    task(lake, engine=engine, conf={"spark.a": "of the asset"}, application_args=["x"]).execute(context(lake))
    assert content(lake) == "1"
    ((body,),) = [[body for method, _, body in platform.calls if method == "POST"]]
    (job,) = platform.jobs.values()
    assert (body["apiVersion"], body["kind"]) == ("sparkoperator.k8s.io/v1beta2", "SparkApplication")
    assert body["metadata"] == {"name": f"partition-{job.token}", "namespace": "spark"}
    spec = body["spec"]
    assert (spec["driver"], spec["executor"]) == (SPEC["driver"], SPEC["executor"])
    assert spec["restartPolicy"] == {"type": "Never"}  # or a job that has failed would be another one's
    conf = {name: spec["sparkConf"][name] for name in ("spark.a", "spark.b", "spark.c")}
    assert conf == {"spark.a": "of the asset", "spark.b": "2013-01-02|EWR", "spark.c": "2"}
    assert spec["arguments"] == ["x"]
    assert spec["deps"]["packages"] == ["org.example:own:1"]
    own, ours = spec["deps"]["pyFiles"]
    folder = spec["mainApplicationFile"].removesuffix("/make_partition.py")
    assert own == "s3a://code/mine.zip"
    assert ours.startswith(f"{folder}/airflow_partitions-")
    assert folder.endswith(job.token)


def test_the_log_of_a_failed_driver_is_told(
    lake: Any, platform: Any, mounted: Any, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: Handover) -> None:
        raise RuntimeError

    platform.work = fail
    with pytest.raises(SparkServerError, match="has ended as FAILED: driver failed"):
        task(lake, engine=platform.engine(**mounted)).execute(context(lake))
    (job,) = platform.jobs.values()
    assert f"log of partition-{job.token}-driver" in caplog.text + capsys.readouterr().out


def test_a_cluster_without_the_spark_operator(lake: Any, platform: Any, mounted: Any) -> None:
    def answer(method: str, path: str, _: Any) -> Any:
        raise LookupError("the server could not find the requested resource")

    platform.answer = answer
    with pytest.raises(UnansweredError, match=r"Kubernetes answered 404 Not Found: .*could not find the requested"):
        task(lake, engine=platform.engine(**mounted)).execute(context(lake))
    assert platform.jobs == {}


def test_its_arguments_are_template_fields_of_the_operator(lake: Any, platform: Any, mounted: Any) -> None:
    job = SparkJob(name="delays", token="0-1-0", application=PROGRAM, handovers=[lake.handover()])
    operator = platform.engine(**mounted).operator(job)
    assert {"namespace", "template_spec", "kubernetes_conn_id"} <= set(type(operator).template_fields)
    assert len(operator.name) <= 63
