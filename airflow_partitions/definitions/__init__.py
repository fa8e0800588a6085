"""Definitions of the partitions of an asset."""

from airflow_partitions.definitions.definition import MAX_KEY_LENGTH, PartitionDefinition
from airflow_partitions.definitions.definition_form import from_json
from airflow_partitions.definitions.interval import PartitionByInterval
from airflow_partitions.definitions.product import PartitionByProduct
from airflow_partitions.definitions.runtime import PartitionAtRuntime
from airflow_partitions.definitions.sequence import PartitionBySequence

__all__ = [
    "MAX_KEY_LENGTH",
    "PartitionAtRuntime",
    "PartitionByInterval",
    "PartitionByProduct",
    "PartitionBySequence",
    "PartitionDefinition",
    "from_json",
]
