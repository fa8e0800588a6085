"""The Spark operator of Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.spark.engines.managed import ManagedEngine

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

    from airflow_partitions.spark.engines.job import SparkJob

#: Seconds for which Kubernetes keeps what is known of a job that has ended: for a task that comes back later.
KEPT = 24 * 3600


@attrs.frozen(kw_only=True)
class Kubernetes(ManagedEngine):
    """Jobs as applications of Kubeflow's Spark operator, by a kind of ``SparkKubernetesOperator``.

    .. code-block:: python

        Kubernetes(
            namespace="spark",
            spec={
                "image": "registry.example.com/spark:4.1",
                "sparkVersion": "4.1.3",
                "driver": {"serviceAccount": "spark", "memory": "2g"},
                "executor": {"instances": 2, "memory": "4g"},
            },
        )

    An application is called by the token of its job, and there can be one of a name.

    :param spec: of a ``SparkApplication`` (``sparkoperator.k8s.io/v1beta2``), as its Spark operator takes it. Program,
        files and properties of a job are added; ``sparkConf`` in it is kept.
    :param namespace: where the applications are made.
    :param kubernetes_conn_id: Airflow's connection of type ``kubernetes``.
    :param arguments: any others of the operator.
    """

    schemes: ClassVar[Mapping[str, str]] = {
        "s3": "s3a", "s3a": "s3a", "gs": "gs", "abfs": "abfs", "abfss": "abfss"
    }  # fmt: skip
    provider: ClassVar[str] = "apache-airflow-providers-cncf-kubernetes"
    endings: ClassVar[tuple[str, ...]] = ("has ended as", "is gone")

    spec: Mapping[str, Any]
    namespace: str = "default"
    kubernetes_conn_id: str = "kubernetes_default"
    arguments: Mapping[str, Any] = attrs.field(factory=dict)

    def operator(self, job: SparkJob) -> BaseOperator:
        from airflow_partitions.spark.engines.spark_application import SparkApplicationOperator

        return SparkApplicationOperator(
            task_id=job.name,
            name=f"partition-{job.token}",
            template_spec={
                "apiVersion": "sparkoperator.k8s.io/v1beta2",
                "kind": "SparkApplication",
                "spec": self._spec(job),
            },
            namespace=self.namespace,
            kubernetes_conn_id=self.kubernetes_conn_id,
            poll_seconds=self.poll_seconds,
            polls=self.polls,
            deferrable=self.deferrable and job.may_defer,
            **self.arguments,
        )

    def _spec(self, job: SparkJob) -> dict[str, Any]:
        staged, own = job.staged, self.spec
        dependencies = own.get("deps", {})
        conf = {**own.get("sparkConf", {}), **staged.conf}
        return {
            "restartPolicy": {"type": "Never"},
            "timeToLiveSeconds": KEPT,
            "driver": {},
            "executor": {},
            **own,
            "type": "Python",
            "pythonVersion": "3",
            "mode": "cluster",
            "mainApplicationFile": self.url(staged.program),
            "arguments": [*own.get("arguments", ()), *staged.arguments],
            "deps": {**dependencies, "pyFiles": [*dependencies.get("pyFiles", ()), *map(self.url, staged.py_files)]},
            "sparkConf": {name: str(value) for name, value in conf.items()},
        }
