"""A cluster of Dataproc."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.spark.engines.dataproc import DataprocEngine

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

    from airflow_partitions.spark.engines.job import SparkJob


@attrs.frozen(kw_only=True)
class DataprocCluster(DataprocEngine):
    """Jobs of a running cluster of Dataproc, by a kind of ``DataprocSubmitJobOperator``.

    .. code-block:: python

        DataprocCluster(region="europe-west1", cluster_name="etl")

    :param cluster_name: where they run.
    :param job: as Dataproc takes it: ``labels``, for example; ``properties`` of the ``pyspark_job`` in it are kept.
    """

    endings: ClassVar[tuple[str, ...]] = ("has ended as", "failed:", "was cancelled", "is gone")

    cluster_name: str
    job: Mapping[str, Any] = attrs.field(factory=dict)

    def operator(self, job: SparkJob) -> BaseOperator:
        from airflow_partitions.spark.engines.dataproc_job import DataprocJobOperator

        own = self.job.get("pyspark_job", {})
        return DataprocJobOperator(
            job={
                **self.job,
                "reference": {"job_id": self.name(job)},
                "placement": {**self.job.get("placement", {}), "cluster_name": self.cluster_name},
                "pyspark_job": {**self.python(job, own), "properties": self.properties(job, own.get("properties", {}))},
            },
            **self.common(job),
        )
