"""Statistics of the columns of a partition, as its files tell them: nothing of the data is read."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.io.arrow_dataset import sources
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.metadata.statistics import ColumnStatistics, PartitionStatistics, together

if TYPE_CHECKING:
    import pyarrow as pa

_THREADS = 8


def statistics_of(request: ReadRequest, names: Collection[str]) -> PartitionStatistics:
    """What the files of *request* tell of the columns *names*: those of Parquet by their footers, those of a table
    without partitions by its manifests.

    :raises StorageError: if one can't be read; :class:`.DamagedError` if it is none of the format.
    """
    import pyarrow as pa
    from pyarrow import parquet

    whole = open_backend(request.dataset).statistics(names) if request.partitions is None else None
    if whole is not None:
        return whole
    if request.dataset.format != "parquet":
        return PartitionStatistics()
    filesystem, paths = sources(request)

    def one(path: str) -> PartitionStatistics:
        with translate_errors(partial(request.named, path), "read as parquet", damaged=(pa.ArrowInvalid,)):
            return _of_footer(parquet.read_metadata(path, filesystem=filesystem), names)

    with ThreadPoolExecutor(_THREADS) as threads:
        return together(list(threads.map(one, paths)))


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
            columns[name] = ColumnStatistics(told.null_count, *_bounds(told, schema.field(name).type))
        groups.append(PartitionStatistics(group.num_rows, columns))
    empty = PartitionStatistics(0, {name: ColumnStatistics(0) for name in plain})
    return together(groups) if groups else empty


def _bounds(told: Any, kind: pa.DataType) -> tuple[Any, ...]:
    """The least and the greatest value, if they bound every value and Python has such values."""
    if not told.has_min_max or not _is_bounded(kind):
        return ()
    try:
        return told.min, told.max
    except (ValueError, OverflowError):  # a time that is no datetime, say of year 10000
        return ()


def _is_bounded(kind: pa.DataType) -> bool:
    """Whether bounds bound every value. Writers leave NaN out of them, which no comparison takes."""
    import pyarrow as pa

    types = pa.types
    return bool(
        types.is_signed_integer(kind)
        or types.is_date(kind)
        or (types.is_timestamp(kind) and kind.unit != "ns")  # a datetime has microseconds
        or types.is_decimal(kind)
        or types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_boolean(kind)
    )
