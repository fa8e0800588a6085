"""The Spark side: what runs on a driver, and the operator that submits it.

Names are loaded when first used: a driver has no Airflow, a scheduler no Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_MODULES = {
    "Job": "running_job",
    "Reads": "result",
    "Result": "result",
    "SparkAssetOperator": "operator",
    "explore": "catalog",
    "job": "running_job",
    "write_many": "dynamic_partitions",
}

__all__ = ["Job", "Reads", "Result", "SparkAssetOperator", "explore", "job", "write_many"]

if TYPE_CHECKING:
    from airflow_partitions.spark.catalog import explore
    from airflow_partitions.spark.dynamic_partitions import write_many
    from airflow_partitions.spark.operator import SparkAssetOperator
    from airflow_partitions.spark.result import Reads, Result
    from airflow_partitions.spark.running_job import Job, job


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
