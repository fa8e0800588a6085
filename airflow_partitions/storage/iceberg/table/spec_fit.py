"""Partition specs: whether each file that anyone writes holds rows of one key only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Transaction
from pyiceberg.transforms import (
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    Transform,
    YearTransform,
)
from pyiceberg.types import DateType

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.definitions import PartitionByInterval
from airflow_partitions.core.errors import LayoutError
from airflow_partitions.core.keys import Interval
from airflow_partitions.storage.iceberg.table.key_column import KeyColumn, ValueColumn
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter

#: From the coarsest to the finest.
_TIMES: Sequence[Transform[Any, Any]] = (YearTransform(), MonthTransform(), DayTransform(), HourTransform())
_YEARS = 60


def misfit(spec: PartitionSpec, keys: KeyFilter) -> str | None:
    """Why a file may hold rows of several keys, if others write or compact the table; ``None`` if it can't.

    What we write holds rows of one key in any case, whatever the spec: it is told by statistics. But compaction merges
    what has the same partition values.
    """
    for column in keys.columns.values():
        transforms = _transforms(spec, column)
        if not any(_fits(transform, column) for transform in transforms):
            shown = ", ".join(_shown(transform, column.name) for transform in transforms) or "nothing"
            return (
                f"it is partitioned by {shown} where keys are told by {column.name}, so that compaction by others may"
                " put rows of two keys into one file, and neither can be replaced alone then; nearest spec that fits:"
                f" {', '.join(fitting(keys).values()) or 'none'}"
            )
    return None


def fitting(keys: KeyFilter) -> dict[str, str]:
    """Column to the coarsest transform of it whose values never hold rows of two keys, as SQL writes it.

    Columns of which there is none are left out: of times in zones whose offset is no whole hour, for example.
    """
    transforms = {column.name: _coarsest(column) for column in keys.columns.values()}
    return {name: _shown(transform, name) for name, transform in transforms.items() if transform is not None}


def partition_by_keys(table: Transaction, keys: KeyFilter) -> None:
    """Partition a new *table* by the nearest spec that fits *keys*."""
    with table.update_spec() as update:
        for column in keys.columns.values():
            if (transform := _coarsest(column)) is not None:
                update.add_field(column.name, transform)


def keep_apart(table: Transaction, keys: KeyFilter) -> None:
    """Let no file that is written to *table* hold rows of two keys: its spec gets what is missing for that.

    :raises LayoutError: if nothing keeps them apart.
    """
    with table.update_spec() as update:
        for column in keys.columns.values():
            if any(_fits(transform, column) for transform in _transforms(table.table_metadata.spec(), column)):
                continue
            if (transform := _coarsest(column)) is None:
                raise LayoutError(
                    f"no transform of the column {column.name!r} keeps the rows of two keys of {column.dimension!r} in"
                    " files of their own; expected save({key: frame}), which writes each key by itself"
                )
            update.add_field(column.name, transform, f"airflow_{column.name}")


def _transforms(spec: PartitionSpec, column: KeyColumn) -> list[Transform[Any, Any]]:
    return [field.transform for field in spec.fields if field.source_id == column.field.field_id]


def _coarsest(column: KeyColumn) -> Transform[Any, Any] | None:
    if isinstance(column, ValueColumn):
        return IdentityTransform()
    return next((transform for transform in _times(column) if _fits(transform, column)), None)


def _times(column: KeyColumn) -> Sequence[Transform[Any, Any]]:
    return _TIMES[:-1] if isinstance(column.field.field_type, DateType) else _TIMES


def _fits(transform: Transform[Any, Any], column: KeyColumn) -> bool:
    """Whether each key is made of whole values of *transform*, as far as a good sample can tell."""
    if isinstance(transform, IdentityTransform):
        return True
    if isinstance(column, ValueColumn) or not isinstance(column.dimension, PartitionByInterval):
        return False
    if transform not in _times(column):
        return False
    value_of = transform.transform(column.field.field_type)
    bounds = (bound for part in _sample(column.dimension) for bound in _bounds(column, part))
    return all(value_of(bound - 1) != value_of(bound) for bound in bounds)


def _bounds(column: KeyColumn, part: Interval) -> tuple[int, int]:
    low, high = column.values(part)
    return low, high + 1


def _sample(dimension: PartitionByInterval) -> Iterator[Interval]:
    """Intervals of some years: zones change their offsets, and months their length."""
    first = dimension.start or datetime(2000, 1, 1, tzinfo=UTC).astimezone(dimension.clock.zone)
    yield from islice(dimension.keys(first, first + timedelta(days=36525)), 400)
    for year in range(1, _YEARS, 4):
        far = first + timedelta(days=year * 366)
        yield from islice(dimension.keys(far, far + timedelta(days=800)), 48)


def _shown(transform: Transform[Any, Any], column: str) -> str:
    """*transform* of *column*, as Spark's SQL writes it."""
    if isinstance(transform, IdentityTransform):
        return column
    return f"{transform}s({column})" if transform in _TIMES else f"{transform}({column})"
