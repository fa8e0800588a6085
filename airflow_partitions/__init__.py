"""Partition-aware assets for Apache Airflow and Spark.

Names are loaded when first used, so that importing the package loads neither Airflow nor Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_MODULES = {
    "Dependency": "dependencies",
    "Interval": "keys",
    "Lookback": "dependencies",
    "Partition": "partition",
    "PartitionAtRuntime": "definitions",
    "PartitionByInterval": "definitions",
    "PartitionByProduct": "definitions",
    "PartitionBySequence": "definitions",
    "PartitionKey": "keys",
    "Partitioned": "timetables",
    "Selection": "dependencies",
    "Window": "dependencies",
    "asset": "assets",
    "spark_asset": "assets",
}

__all__ = [
    "Dependency",
    "Interval",
    "Lookback",
    "Partition",
    "PartitionAtRuntime",
    "PartitionByInterval",
    "PartitionByProduct",
    "PartitionBySequence",
    "PartitionKey",
    "Partitioned",
    "Selection",
    "Window",
    "__version__",
    "asset",
    "spark_asset",
]

if TYPE_CHECKING:
    from airflow_partitions.assets import asset, spark_asset
    from airflow_partitions.definitions import (
        PartitionAtRuntime,
        PartitionByInterval,
        PartitionByProduct,
        PartitionBySequence,
    )
    from airflow_partitions.dependencies import Dependency, Lookback, Selection, Window
    from airflow_partitions.keys import Interval, PartitionKey
    from airflow_partitions.partition import Partition
    from airflow_partitions.timetables import Partitioned


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
