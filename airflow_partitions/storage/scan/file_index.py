"""Index of values: the files of a partition that a filter needs."""

from __future__ import annotations

from functools import reduce

from airflow_partitions.errors import FilterError
from airflow_partitions.storage.filters.binding import OPERATORS
from airflow_partitions.storage.filters.filter import And, Condition, Filter, Or
from airflow_partitions.storage.filters.values import typed
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.scan.stored_partition import StoredPartition

#: Their text depends on a session's time zone, so that an index of them tells nothing.
_ZONED = ("timestamp", "timestamp_ltz")


def needed(partition: StoredPartition, rows: Filter) -> frozenset[str] | None:
    """Names of the files of *partition* that may have rows for which *rows* holds; ``None`` if no index tells."""
    metadata = partition.content.metadata
    return None if metadata is None or not metadata.index else _needed(rows, metadata)


def _needed(part: Filter, metadata: PartitionMetadata) -> frozenset[str] | None:
    if isinstance(part, Condition):
        return _having(part, metadata)
    if not isinstance(part, And | Or):
        return None
    files = [_needed(each, metadata) for each in part.parts]
    indexed = [names for names in files if names is not None]
    if isinstance(part, Or):
        return None if len(indexed) < len(files) else frozenset[str]().union(*indexed)
    return reduce(frozenset.intersection, indexed) if indexed else None


def _having(condition: Condition, metadata: PartitionMetadata) -> frozenset[str] | None:
    """Files with a value that *condition* allows."""
    kind = metadata.schema.get(condition.field)
    if condition.field not in metadata.index or kind is None or kind in _ZONED:
        return None
    holds = OPERATORS[condition.op]
    try:
        if isinstance(condition.value, tuple):
            operand = tuple(typed(value, kind, condition) for value in condition.value)
        else:
            operand = typed(condition.value, kind, condition)
        values = {text: typed(text, kind, condition) for text in metadata.index[condition.field]}
    except FilterError:  # written when the column had another type
        return None
    chosen = (names for text, names in metadata.index[condition.field].items() if holds(values[text], operand))
    return frozenset(name for names in chosen for name in names)
