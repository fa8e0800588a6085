"""Statistics of the columns of a partition, as its files tell them: nothing of the data is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.io.arrow_dataset import sources
from airflow_partitions.storage.io.read_request import ReadRequest

if TYPE_CHECKING:
    import pyarrow as pa

_THREADS = 8


@attrs.frozen
class ColumnStatistics:
    """What is known of one column without reading it.

    :ivar nulls: how many values are null.
    :ivar minimum: no value is smaller; ``None`` if that is not known, or all values are null.
    :ivar maximum: no value is greater.
    """

    nulls: int
    minimum: Any = None
    maximum: Any = None

    def also(self, other: ColumnStatistics, rows: int, other_rows: int) -> ColumnStatistics:
        """These of *rows* rows and the *other* ones together. Rows without a value have no bounds to take part."""
        if self.nulls == rows or other.nulls == other_rows:
            bounds = other if self.nulls == rows else self
            return attrs.evolve(bounds, nulls=self.nulls + other.nulls)
        if self.minimum is None or other.minimum is None:
            return ColumnStatistics(self.nulls + other.nulls)
        low, high = min(self.minimum, other.minimum), max(self.maximum, other.maximum)
        return ColumnStatistics(self.nulls + other.nulls, low, high)


@attrs.frozen
class PartitionStatistics:
    """What is known of a partition without reading it.

    :ivar rows: how many there are; ``None`` if its files don't tell.
    :ivar columns: those that something is known of.
    """

    rows: int | None = None
    columns: Mapping[str, ColumnStatistics] = attrs.field(factory=dict)


def statistics_of(request: ReadRequest, names: Collection[str]) -> PartitionStatistics:
    """What the files of *request* tell of the columns *names*: those of Parquet, by their footers.

    :raises StorageError: if one can't be read; :class:`.DamagedError` if it is none of the format.
    """
    import pyarrow as pa
    from pyarrow import parquet

    if request.dataset.format != "parquet":
        return PartitionStatistics()
    filesystem, paths = sources(request)

    def one(path: str) -> PartitionStatistics:
        with translate_errors(partial(request.named, path), "read as parquet", damaged=(pa.ArrowInvalid,)):
            return _of_footer(parquet.read_metadata(path, filesystem=filesystem), names)

    with ThreadPoolExecutor(_THREADS) as threads:
        return _together(list(threads.map(one, paths)))


def _of_footer(footer: Any, names: Collection[str]) -> PartitionStatistics:
    import pyarrow as pa

    schema = footer.schema.to_arrow_schema()
    # What is nested has several columns in the file, whose paths have dots.
    plain = {n for n in names if "." not in n and n in schema.names and not pa.types.is_nested(schema.field(n).type)}
    groups = []
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        columns = {}
        for column in map(group.column, range(group.num_columns)):
            name, told = column.path_in_schema, column.statistics
            if name not in plain or told is None or not told.has_null_count:
                continue
            bounds = told.has_min_max and _has_bounds(schema.field(name).type)
            columns[name] = ColumnStatistics(told.null_count, *([told.min, told.max] if bounds else []))
        groups.append(PartitionStatistics(group.num_rows, columns))
    empty = PartitionStatistics(0, {name: ColumnStatistics(0) for name in plain})
    return _together(groups) if groups else empty


def _together(parts: list[PartitionStatistics]) -> PartitionStatistics:
    """The statistics of all *parts* as one: of the columns that each of them tells of."""
    if not parts:
        return PartitionStatistics(0)
    whole = parts[0]
    for part in parts[1:]:
        rows, more = whole.rows or 0, part.rows or 0
        columns = {
            name: own.also(part.columns[name], rows, more)
            for name, own in whole.columns.items()
            if name in part.columns
        }
        whole = PartitionStatistics(rows + more, columns)
    return whole


def _has_bounds(kind: pa.DataType) -> bool:
    """Whether bounds in a file bound every value. Writers leave NaN out of them, which no comparison takes."""
    import pyarrow as pa

    types = pa.types
    return bool(
        types.is_signed_integer(kind)
        or types.is_temporal(kind)
        or types.is_decimal(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_boolean(kind)
    )
