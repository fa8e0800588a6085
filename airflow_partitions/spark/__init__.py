"""The Spark side: what runs on a driver, and the operator that submits it.

Names are loaded when first used: a driver has no Airflow, a scheduler no Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

_MODULES = {
    "Job": "running_job",
    "JobResult": "job_result",
    "SparkAssetOperator": "operator",
    "explore": "catalog",
    "job": "running_job",
}

__all__ = ["Job", "JobResult", "SparkAssetOperator", "explore", "job"]

if TYPE_CHECKING:
    from airflow_partitions.spark.catalog import explore
    from airflow_partitions.spark.job_result import JobResult
    from airflow_partitions.spark.operator import SparkAssetOperator
    from airflow_partitions.spark.running_job import Job, job


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
