"""Checks of a partition between staged and published: what fails one is not published.

Names are loaded when first used: a Dag file only names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.exports import lazy_exports

_MODULES = {
    "AcceptedValues": "values",
    "Check": "check",
    "CheckResult": "result",
    "ExactSchema": "schema",
    "Freshness": "freshness",
    "FunctionCheck": "function",
    "NotNull": "values",
    "Observation": "result",
    "OfPartition": "of_partition",
    "RowCount": "row_count",
    "RowCountChange": "row_count",
    "SameRowCount": "row_count",
    "SchemaCheck": "pandera_schema",
    "StagedPartition": "staged_partition",
    "Unique": "unique",
    "ValueRange": "values",
}

__all__ = [
    "AcceptedValues",
    "Check",
    "CheckResult",
    "ExactSchema",
    "Freshness",
    "FunctionCheck",
    "NotNull",
    "Observation",
    "OfPartition",
    "RowCount",
    "RowCountChange",
    "SameRowCount",
    "SchemaCheck",
    "StagedPartition",
    "Unique",
    "ValueRange",
]

if TYPE_CHECKING:
    from airflow_partitions.checks.check import Check
    from airflow_partitions.checks.freshness import Freshness
    from airflow_partitions.checks.function import FunctionCheck
    from airflow_partitions.checks.of_partition import OfPartition
    from airflow_partitions.checks.pandera_schema import SchemaCheck
    from airflow_partitions.checks.result import CheckResult, Observation
    from airflow_partitions.checks.row_count import RowCount, RowCountChange, SameRowCount
    from airflow_partitions.checks.schema import ExactSchema
    from airflow_partitions.checks.staged_partition import StagedPartition
    from airflow_partitions.checks.unique import Unique
    from airflow_partitions.checks.values import AcceptedValues, NotNull, ValueRange


__getattr__ = lazy_exports(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
