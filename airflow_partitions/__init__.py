"""Partition-aware assets for Apache Airflow and Spark.

Names are loaded when first used, so that importing the package loads neither Airflow nor Spark.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

if sys.version_info < (3, 10):  # noqa: UP036 - pip does not see the Python of a Spark driver
    raise ImportError(
        "airflow_partitions needs Python 3.10 or newer, on Spark's driver and workers too; this is"
        f" {sys.version.split()[0]}, {sys.executable}. Name another one by spark.pyspark.python and"
        " spark.pyspark.driver.python"
    )

_MODULES = {
    "INFER": "authoring.assets",
    "AllPartitions": "core.dependencies",
    "AtLeast": "engine.timetables.run_policy",
    "ByDimension": "core.dependencies",
    "DbtBatches": "authoring.tasks",
    "Dependency": "core.dependencies",
    "Interval": "core.keys",
    "KeyFormat": "core.dependencies",
    "KeyRule": "core.dependencies",
    "LatestPartition": "core.dependencies",
    "Lookback": "core.dependencies",
    "Materialize": "authoring.tasks",
    "MaterializedSensor": "authoring.tasks",
    "Partition": "core.partition",
    "PartitionAtRuntime": "core.definitions",
    "PartitionByInterval": "core.definitions",
    "PartitionByProduct": "core.definitions",
    "PartitionBySequence": "core.definitions",
    "PartitionDeadline": "authoring.deadline",
    "PartitionDefinition": "core.definitions",
    "PartitionError": "core.errors",
    "PartitionKey": "core.keys",
    "PartitionSensor": "authoring.arrival",
    "Partitioned": "engine.timetables",
    "Previous": "core.dependencies",
    "ProductKey": "core.keys",
    "Publish": "authoring.tasks",
    "Rule": "core.dependencies",
    "RunPartition": "engine.runs.run_partition",
    "SameKey": "core.dependencies",
    "Segment": "core.keys",
    "SegmentMap": "core.dependencies",
    "Selection": "core.dependencies",
    "Sides": "core.dependencies",
    "StoredFrame": "frames.stored_frame",
    "Trial": "authoring.local",
    "Unpartitioned": "core.dependencies",
    "Window": "core.dependencies",
    "Within": "engine.timetables.run_policy",
    "__version__": "release",
    "asset": "authoring.assets",
    "materialized": "engine.runs.materialized",
    "register_rules": "engine.timetables.rules",
    "spark_asset": "authoring.assets",
    "try_partition": "authoring.local",
    "watched": "authoring.arrival",
}

__all__ = [
    "INFER",
    "AllPartitions",
    "AtLeast",
    "ByDimension",
    "DbtBatches",
    "Dependency",
    "Interval",
    "KeyFormat",
    "KeyRule",
    "LatestPartition",
    "Lookback",
    "Materialize",
    "MaterializedSensor",
    "Partition",
    "PartitionAtRuntime",
    "PartitionByInterval",
    "PartitionByProduct",
    "PartitionBySequence",
    "PartitionDeadline",
    "PartitionDefinition",
    "PartitionError",
    "PartitionKey",
    "PartitionSensor",
    "Partitioned",
    "Previous",
    "ProductKey",
    "Publish",
    "Rule",
    "RunPartition",
    "SameKey",
    "Segment",
    "SegmentMap",
    "Selection",
    "Sides",
    "StoredFrame",
    "Trial",
    "Unpartitioned",
    "Window",
    "Within",
    "__version__",
    "asset",
    "materialized",
    "register_rules",
    "spark_asset",
    "try_partition",
    "watched",
]

if TYPE_CHECKING:
    from airflow_partitions.authoring.arrival import PartitionSensor, watched
    from airflow_partitions.authoring.assets import INFER, asset, spark_asset
    from airflow_partitions.authoring.deadline import PartitionDeadline
    from airflow_partitions.authoring.local import Trial, try_partition
    from airflow_partitions.authoring.tasks import DbtBatches, Materialize, MaterializedSensor, Publish
    from airflow_partitions.core.definitions import (
        PartitionAtRuntime,
        PartitionByInterval,
        PartitionByProduct,
        PartitionBySequence,
        PartitionDefinition,
    )
    from airflow_partitions.core.dependencies import (
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
    from airflow_partitions.core.errors import PartitionError
    from airflow_partitions.core.keys import Interval, PartitionKey, ProductKey, Segment
    from airflow_partitions.core.partition import Partition
    from airflow_partitions.engine.runs.materialized import materialized
    from airflow_partitions.engine.runs.run_partition import RunPartition
    from airflow_partitions.engine.timetables import Partitioned
    from airflow_partitions.engine.timetables.rules import register_rules
    from airflow_partitions.engine.timetables.run_policy import AtLeast, Within
    from airflow_partitions.frames.stored_frame import StoredFrame
    from airflow_partitions.release import __version__


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
