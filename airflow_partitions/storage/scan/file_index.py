"""Index of values: the files of a partition that a filter needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from airflow_partitions.errors import FilterError
from airflow_partitions.storage.filters.filter import And, Condition, Filter, Or
from airflow_partitions.storage.filters.values import test_of, value_of
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.scan.stored_partition import StoredPartition

#: Spark's name of the type of a column, as the dataset is read; ``None`` if that is not known.
TypeOf = Callable[[str], str | None]


def needed(partition: StoredPartition, rows: Filter, type_of: TypeOf) -> frozenset[str] | None:
    """Names of the files of *partition* that may have rows for which *rows* holds; ``None`` if no index tells."""
    metadata = partition.content.metadata
    return None if metadata is None or not metadata.index else _needed(rows, metadata, type_of)


def _needed(part: Filter, metadata: PartitionMetadata, type_of: TypeOf) -> frozenset[str] | None:
    if isinstance(part, Condition):
        return _having(part, metadata, type_of(part.field))
    if not isinstance(part, And | Or):
        return None
    files = [_needed(each, metadata, type_of) for each in part.parts]
    indexed = [names for names in files if names is not None]
    if isinstance(part, Or):
        return None if len(indexed) < len(files) else frozenset[str]().union(*indexed)
    return reduce(frozenset.intersection, indexed) if indexed else None


def _having(condition: Condition, metadata: PartitionMetadata, kind: str | None) -> frozenset[str] | None:
    """Files with a value that *condition* allows. Files with nulls alone are in no index."""
    stored = metadata.schema.get(condition.field)
    if condition.field not in metadata.index or kind is None or stored is None:
        return None
    try:
        holds = test_of(condition, kind)
        if holds(None):
            return None
        values = {text: value_of(text, stored) for text in metadata.index[condition.field]}
        files = [names for text, names in metadata.index[condition.field].items() if holds(values[text])]
    except (FilterError, ValueError, TypeError):  # written when the column had another type
        return None
    return frozenset(name for names in files for name in names)
