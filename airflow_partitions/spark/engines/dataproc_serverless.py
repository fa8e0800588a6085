"""Dataproc Serverless."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from airflow_partitions.spark.engines.dataproc import DataprocEngine

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

    from airflow_partitions.spark.engines.job import SparkJob


@attrs.frozen(kw_only=True)
class DataprocServerless(DataprocEngine):
    """Jobs without a cluster, each a batch of Dataproc, by a kind of ``DataprocCreateBatchOperator``.

    .. code-block:: python

        DataprocServerless(region="europe-west1", batch={"runtime_config": {"version": "2.3"}})

    :param batch: as Dataproc takes it; ``properties`` of the ``runtime_config`` in it are kept.
    """

    endings: ClassVar[tuple[str, ...]] = ("failed with error", "was cancelled", "is gone")

    batch: Mapping[str, Any] = attrs.field(factory=dict)

    def operator(self, job: SparkJob) -> BaseOperator:
        from airflow_partitions.spark.engines.dataproc_batch import DataprocBatchOperator

        runtime = self.batch.get("runtime_config", {})
        return DataprocBatchOperator(
            batch_id=self.name(job),
            batch={
                **self.batch,
                "pyspark_batch": self.python(job, self.batch.get("pyspark_batch", {})),
                "runtime_config": {**runtime, "properties": self.properties(job, runtime.get("properties", {}))},
            },
            **self.common(job),
        )
