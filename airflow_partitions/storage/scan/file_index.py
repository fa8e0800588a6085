"""Which files of a partition a filter needs, by the index that was published with them."""

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
    marker = partition.content.marker
    return None if marker is None or not marker.index else _needed(rows, marker)


def _needed(part: Filter, marker: PartitionMetadata) -> frozenset[str] | None:
    if isinstance(part, Condition):
        return _having(part, marker)
    if not isinstance(part, And | Or):
        return None
    found = [_needed(each, marker) for each in part.parts]
    known = [names for names in found if names is not None]
    if isinstance(part, Or):
        return None if len(known) < len(found) else frozenset[str]().union(*known)
    return reduce(frozenset.intersection, known) if known else None


def _having(condition: Condition, marker: PartitionMetadata) -> frozenset[str] | None:
    """Files with a value that *condition* allows."""
    kind = marker.schema.get(condition.field)
    if condition.field not in marker.index or kind is None or kind in _ZONED:
        return None
    holds = OPERATORS[condition.op]
    try:
        if isinstance(condition.value, tuple):
            wanted = tuple(typed(value, kind, condition) for value in condition.value)
        else:
            wanted = typed(condition.value, kind, condition)
        values = {text: typed(text, kind, condition) for text in marker.index[condition.field]}
    except FilterError:  # written when the column had another type
        return None
    chosen = (names for text, names in marker.index[condition.field].items() if holds(values[text], wanted))
    return frozenset(name for names in chosen for name in names)
