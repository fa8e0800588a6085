"""Partition-aware assets for Apache Airflow and Spark.

Names are loaded when first used, so that importing the package loads neither Airflow nor Spark.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

__version__ = "0.1.0"

if sys.version_info < (3, 10):  # noqa: UP036 - pip does not see the Python of a Spark driver
    raise ImportError(
        f"airflow_partitions {__version__} needs Python 3.10 or newer, on Spark's driver and workers too; this is"
        f" {sys.version.split()[0]}, {sys.executable}. Name another one by spark.pyspark.python and"
        " spark.pyspark.driver.python"
    )

_MODULES = {
    "INFER": "assets",
    "AllPartitions": "dependencies",
    "AtLeast": "timetables.run_policy",
    "ByDimension": "dependencies",
    "Dependency": "dependencies",
    "Interval": "keys",
    "KeyFormat": "dependencies",
    "KeyRule": "dependencies",
    "LatestPartition": "dependencies",
    "Lookback": "dependencies",
    "Materialise": "tasks",
    "MaterialisedSensor": "tasks",
    "Partition": "partition",
    "PartitionAtRuntime": "definitions",
    "PartitionByInterval": "definitions",
    "PartitionByProduct": "definitions",
    "PartitionBySequence": "definitions",
    "PartitionDeadline": "deadlines",
    "PartitionDefinition": "definitions",
    "PartitionKey": "keys",
    "Partitioned": "timetables",
    "Previous": "dependencies",
    "ProductKey": "keys",
    "Rule": "dependencies",
    "RunPartition": "runs.run_partition",
    "SameKey": "dependencies",
    "Segment": "keys",
    "SegmentMap": "dependencies",
    "Selection": "dependencies",
    "Sides": "dependencies",
    "StoredFrame": "frames.stored_frame",
    "Unpartitioned": "dependencies",
    "Window": "dependencies",
    "Within": "timetables.run_policy",
    "asset": "assets",
    "materialised": "runs.materialised",
    "register_rules": "timetables.rules",
    "spark_asset": "assets",
}

__all__ = [
    "INFER",
    "AllPartitions",
    "AtLeast",
    "ByDimension",
    "Dependency",
    "Interval",
    "KeyFormat",
    "KeyRule",
    "LatestPartition",
    "Lookback",
    "Materialise",
    "MaterialisedSensor",
    "Partition",
    "PartitionAtRuntime",
    "PartitionByInterval",
    "PartitionByProduct",
    "PartitionBySequence",
    "PartitionDeadline",
    "PartitionDefinition",
    "PartitionKey",
    "Partitioned",
    "Previous",
    "ProductKey",
    "Rule",
    "RunPartition",
    "SameKey",
    "Segment",
    "SegmentMap",
    "Selection",
    "Sides",
    "StoredFrame",
    "Unpartitioned",
    "Window",
    "Within",
    "__version__",
    "asset",
    "materialised",
    "register_rules",
    "spark_asset",
]

if TYPE_CHECKING:
    from airflow_partitions.assets import INFER, asset, spark_asset
    from airflow_partitions.deadlines import PartitionDeadline
    from airflow_partitions.definitions import (
        PartitionAtRuntime,
        PartitionByInterval,
        PartitionByProduct,
        PartitionBySequence,
        PartitionDefinition,
    )
    from airflow_partitions.dependencies import (
        AllPartitions,
        ByDimension,
        Dependency,
        KeyFormat,
        KeyRule,
        LatestPartition,
        Lookback,
        Previous,
        Rule,
        SameKey,
        SegmentMap,
        Selection,
        Sides,
        Unpartitioned,
        Window,
    )
    from airflow_partitions.frames.stored_frame import StoredFrame
    from airflow_partitions.keys import Interval, PartitionKey, ProductKey, Segment
    from airflow_partitions.partition import Partition
    from airflow_partitions.runs.materialised import materialised
    from airflow_partitions.runs.run_partition import RunPartition
    from airflow_partitions.tasks import Materialise, MaterialisedSensor
    from airflow_partitions.timetables import Partitioned
    from airflow_partitions.timetables.rules import register_rules
    from airflow_partitions.timetables.run_policy import AtLeast, Within


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
