"""Databricks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.spark.engines.job import PROGRAM
from airflow_partitions.spark.engines.managed import ManagedEngine

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

    from airflow_partitions.spark.engines.job import SparkJob


@attrs.frozen(kw_only=True)
class Databricks(ManagedEngine):
    """Jobs of Databricks, each a run on a cluster of its own, by ``DatabricksSubmitRunOperator``.

    .. code-block:: python

        Databricks(new_cluster={"spark_version": "17.3.x-scala2.13", "node_type_id": "m6gd.large", "num_workers": 2})

    The handover travels as a Spark property of the cluster, so it is a new one for each job. A program of the author's
    own needs this package among the *libraries*; a function does not.

    :param new_cluster: as Databricks takes it; ``spark_conf`` in it is kept.
    :param libraries: of the run, as Databricks takes them.
    :param databricks_conn_id: Airflow's connection of type ``databricks``.
    :param arguments: any others of the operator.
    """

    schemes: ClassVar[Mapping[str, str]] = {each: each for each in ("s3", "s3a", "abfss", "gs")}
    provider: ClassVar[str] = "apache-airflow-providers-databricks"
    endings: ClassVar[tuple[str, ...]] = ("terminal state",)

    new_cluster: Mapping[str, Any]
    libraries: tuple[Mapping[str, Any], ...] = ()
    databricks_conn_id: str = "databricks_default"
    arguments: Mapping[str, Any] = attrs.field(factory=dict)

    def operator(self, job: SparkJob) -> BaseOperator:
        from airflow.providers.databricks.operators.databricks import DatabricksSubmitRunOperator

        staged = job.staged
        conf = {**self.new_cluster.get("spark_conf", {}), **staged.conf}
        # A Python task of Databricks has no --py-files: our program takes them.
        files = ["--py-files", ",".join(map(self.url, staged.py_files))] if job.application == PROGRAM else []
        return DatabricksSubmitRunOperator(
            task_id=job.name,
            run_name=job.name,
            idempotency_token=job.token,
            new_cluster={**self.new_cluster, "spark_conf": {name: str(value) for name, value in conf.items()}},
            spark_python_task={
                "python_file": self.url(staged.program),
                "parameters": [*files, *staged.arguments],
            },
            libraries=[dict(library) for library in self.libraries],
            databricks_conn_id=self.databricks_conn_id,
            polling_period_seconds=self.poll_seconds,
            deferrable=self.deferrable and job.may_defer,
            do_xcom_push=False,
            durable=False,  # its own way finds the job of a task that has succeeded, too
            **self.arguments,
        )
