"""Statistics of the columns of a table, as its manifests tell them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from airflow_partitions.storage.iceberg.iceberg_dataset import Iceberg
from airflow_partitions.storage.metadata.statistics import ColumnStatistics, PartitionStatistics, together

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile
    from pyiceberg.types import NestedField


def table_statistics(dataset: Iceberg, names: Collection[str]) -> PartitionStatistics:
    """What the manifests of the table of *dataset* tell of the columns *names* of all its rows.

    :raises StorageError: if they can't be read.
    """
    from airflow_partitions.storage.iceberg.table.catalog import translated_errors
    from airflow_partitions.storage.iceberg.table.open import open_table

    table = open_table(dataset)
    fields = [field for field in table.schema().fields if field.name in names and field.field_type.is_primitive]
    with translated_errors(f"table {dataset.path!r}", "read"):
        tasks = list(table.scan().plan_files())
    if any(task.delete_files for task in tasks):
        return PartitionStatistics()
    return together([PartitionStatistics(t.file.record_count, dict(_columns(t.file, fields))) for t in tasks])


def _columns(file: DataFile, fields: list[NestedField]) -> Iterator[tuple[str, ColumnStatistics]]:
    for field in fields:
        nulls = (file.null_value_counts or {}).get(field.field_id)
        if nulls is None:
            continue
        low, high = ((each or {}).get(field.field_id) for each in (file.lower_bounds, file.upper_bounds))
        bounds: tuple[Any, ...] = ()
        if low is not None and high is not None and _is_bounded(file, field):
            with suppress(ValueError, OverflowError):  # a time that is no datetime, say of year 10000
                bounds = (_value(field, low), _value(field, high))
        yield field.name, ColumnStatistics(nulls, *bounds)


def _is_bounded(file: DataFile, field: NestedField) -> bool:
    """Whether bounds bound every value: they leave NaN out, which no comparison takes."""
    from pyiceberg.types import (
        BinaryType,
        DoubleType,
        FixedType,
        FloatType,
        TimestampNanoType,
        TimestamptzNanoType,
        TimeType,
        UUIDType,
    )

    if isinstance(field.field_type, FloatType | DoubleType):
        return (file.nan_value_counts or {}).get(field.field_id) == 0
    others = BinaryType | FixedType | TimestampNanoType | TimestamptzNanoType | TimeType | UUIDType
    return not isinstance(field.field_type, others)


def _value(field: NestedField, data: bytes) -> Any:
    from pyiceberg.conversions import from_bytes
    from pyiceberg.types import DateType, TimestampType, TimestamptzType
    from pyiceberg.utils.datetime import days_to_date, micros_to_timestamp, micros_to_timestamptz

    value: Any = from_bytes(field.field_type, data)  # type: ignore[arg-type]
    if isinstance(field.field_type, DateType):
        return days_to_date(value)
    if isinstance(field.field_type, TimestamptzType):
        return micros_to_timestamptz(value)
    return micros_to_timestamp(value) if isinstance(field.field_type, TimestampType) else value
