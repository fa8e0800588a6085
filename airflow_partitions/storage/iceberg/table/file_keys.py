"""Files of a table: which keys their rows are of, by partition value and statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Any

import attrs
from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.transforms import DayTransform, HourTransform, IdentityTransform, MonthTransform, YearTransform
from pyiceberg.types import DateType, IntegerType, LongType, PrimitiveType

from airflow_partitions.core.calendars.instants import DAY, HOUR
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.iceberg.table.key_column import KeyColumn, Values
from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter

_DAY_ZERO = date(1970, 1, 1).toordinal()


@attrs.frozen
class Columns:
    """What a file says of the columns that hold keys.

    :ivar values: range of each dimension's column; without those of which nothing is known.
    :ivar nulls: dimensions whose column may have nulls, which are of no key.
    """

    values: Mapping[str, Values]
    nulls: frozenset[str]


@attrs.frozen
class FileKeys:
    """Which keys the rows of files are of.

    :ivar keys: how keys are told.
    :ivar specs: partition specs of the table, by their number.
    """

    keys: KeyFilter
    specs: Mapping[int, PartitionSpec]

    @classmethod
    def of(cls, keys: KeyFilter, metadata: TableMetadata) -> FileKeys:
        """Those of a table."""
        return cls(keys, metadata.specs())

    def columns(self, file: DataFile) -> Columns:
        """What *file* says of the columns that hold keys."""
        values: dict[str, Values] = {}
        nulls = set()
        for name, column in self.keys.columns.items():
            for each in self._ranges(column, file):
                values[name] = values[name].both(each) if name in values else each
            if not column.field.required and not any(_is_value(*own) for own in self._partition(column, file)):
                counts = file.null_value_counts or {}
                if counts.get(column.field.field_id, 1):
                    nulls.add(name)
        return Columns(values, frozenset(nulls))

    def is_of(self, file: DataFile, values: Mapping[str, Values]) -> bool:
        """Whether all rows of *file* are proved to be of the key that has *values*."""
        if not file.record_count:
            return True
        columns = self.columns(file)
        return not columns.nulls and all(
            name in columns.values and own.contains(columns.values[name]) for name, own in values.items()
        )

    def may_be_of(self, file: DataFile, values: Mapping[str, Values]) -> bool:
        """Whether rows of *file* may be of the key that has *values*."""
        if not file.record_count:
            return False
        # Ranges that overlap each other and a third one have a part in common. The first that does not will do.
        ranges = ((own, each) for name, own in values.items() for each in self._ranges(self.keys.columns[name], file))
        return all(own.overlaps(each) for own, each in ranges)

    def keys_of(self, file: DataFile) -> Iterable[Key] | None:
        """The keys that rows of *file* may be of, ``None`` if that can't be said."""
        values = self.columns(file).values
        return None if len(values) < len(self.keys.columns) else self.keys.keys(values)

    def key_of(self, file: DataFile) -> Key | None:
        """The key that all rows of *file* are proved to be of, ``None`` if there is none."""
        keys = self.keys_of(file) or ()
        return next((key for key in keys if self.is_of(file, self.keys.values(key))), None)

    def shown(self, file: DataFile) -> str:
        """What *file* says of the columns that hold keys, in words."""
        columns = self.columns(file)
        shown = []
        for name, column in self.keys.columns.items():
            if name in columns.values:
                low, high = (column.shown(value) for value in columns.values[name])
                shown.append(f"{column.name} from {low} to {high}" if low != high else f"{column.name} {low}")
            else:
                shown.append(f"{column.name} without statistics")
            if name in columns.nulls and (file.null_value_counts or {}).get(column.field.field_id):
                shown.append(f"nulls in {column.name}")
        return ", ".join(shown)

    def _ranges(self, column: KeyColumn, file: DataFile) -> Iterator[Values]:
        """The ranges that the values of *column* in *file* lie in: by its partition, and by its statistics."""
        for field, value in self._partition(column, file):
            if (own := _of_partition(column, field, value)) is not None:
                yield own
        if (bounds := _of_statistics(column, file)) is not None:
            yield bounds

    def _partition(self, column: KeyColumn, file: DataFile) -> Iterator[tuple[PartitionField, Any]]:
        """The values of the partition of *file* that come from *column*."""
        for position, field in enumerate(self.specs[file.spec_id].fields):
            if field.source_id == column.field.field_id:
                yield field, file.partition[position]


def _of_statistics(column: KeyColumn, file: DataFile) -> Values | None:
    number, kind = column.field.field_id, column.field.field_type
    low, high = (file.lower_bounds or {}).get(number), (file.upper_bounds or {}).get(number)
    if low is None or high is None or not isinstance(kind, PrimitiveType):
        return None
    return Values(_value(kind, low), _value(kind, high))


def _value(kind: PrimitiveType, data: bytes) -> Any:
    if isinstance(kind, LongType) and len(data) == 4:  # the column was an int when the file was written
        kind = IntegerType()
    return from_bytes(kind, data)


def _is_value(field: PartitionField, value: Any) -> bool:
    """Whether the partition *value* tells that there are no nulls in the source column."""
    return value is not None and str(field.transform) != "void"


def _of_partition(column: KeyColumn, field: PartitionField, value: Any) -> Values | None:
    if value is None:
        return None
    transform = field.transform
    if isinstance(transform, IdentityTransform):
        return Values(value, value)
    if isinstance(transform, YearTransform):
        days = _days(date(1970 + value, 1, 1)), _days(date(1971 + value, 1, 1))
    elif isinstance(transform, MonthTransform):
        days = _first_of_month(value), _first_of_month(value + 1)
    elif isinstance(transform, DayTransform):
        days = value, value + 1
    elif isinstance(transform, HourTransform):
        return Values(value * HOUR, (value + 1) * HOUR - 1)
    else:  # buckets, and beginnings of texts
        return None
    low, after = days
    if isinstance(column.field.field_type, DateType):
        return Values(low, after - 1)
    return Values(low * DAY, after * DAY - 1)


def _first_of_month(number: int) -> int:
    return _days(date(1970 + number // 12, number % 12 + 1, 1))


def _days(day: date) -> int:
    return day.toordinal() - _DAY_ZERO
