"""Index of values: the files of a partition that a filter needs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import reduce

from airflow_partitions.core.errors import FilterError, SchemaError
from airflow_partitions.storage.filters.filter import And, Condition, Filter, Or
from airflow_partitions.storage.filters.values import test_of, value_of
from airflow_partitions.storage.metadata.column_index import Index, is_read_as
from airflow_partitions.storage.scan.stored_partition import StoredPartition

#: Spark's name of the type of a column, as the dataset is read; ``None`` if that is not known.
TypeOf = Callable[[str], str | None]


def needed(partition: StoredPartition, rows: Filter, type_of: TypeOf) -> frozenset[str] | None:
    """Names of the files of *partition* that may have rows for which *rows* holds; ``None`` if no index tells."""
    metadata = partition.content.metadata
    return None if metadata is None or not metadata.index else _needed(rows, metadata.index, type_of)


def excludes(rows: Filter, columns: Collection[str]) -> bool:
    """Whether indexes of *columns* can exclude files for which *rows* never holds."""
    if isinstance(rows, Condition):
        takes_null = (rows.op, rows.value) in (("==", None), ("not in", ()))
        return rows.field in columns and not takes_null
    if not isinstance(rows, And | Or):
        return False
    parts = [excludes(part, columns) for part in rows.parts]
    return any(parts) if isinstance(rows, And) else all(parts)


def _needed(part: Filter, index: Index, type_of: TypeOf) -> frozenset[str] | None:
    if isinstance(part, Condition):
        return _having(part, index, type_of(part.field))
    if not isinstance(part, And | Or):
        return None
    files = [_needed(each, index, type_of) for each in part.parts]
    indexed = [names for names in files if names is not None]
    if isinstance(part, Or):
        return None if len(indexed) < len(files) else frozenset[str]().union(*indexed)
    return reduce(frozenset.intersection, indexed) if indexed else None


def _having(condition: Condition, index: Index, kind: str | None) -> frozenset[str] | None:
    """Files with a value that *condition* allows. Files with nulls alone are in no index."""
    column = index.get(condition.field)
    try:
        if column is None or kind is None or not is_read_as(column.kind, kind):  # written when it had another type
            return None
        holds = test_of(condition, kind)
        if holds(None):
            return None
        return frozenset(name for text, names in column.files.items() if holds(value_of(text, kind)) for name in names)
    except (FilterError, SchemaError, ValueError, TypeError, ArithmeticError):  # a year after 9999, for example
        return None
