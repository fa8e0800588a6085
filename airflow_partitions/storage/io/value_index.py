"""The index of files, made by reading them with Arrow."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.registry import reader_for
from airflow_partitions.storage.metadata.column_index import ColumnIndex, Index
from airflow_partitions.storage.scan.stored_partition import StoredPartition

if TYPE_CHECKING:
    import pyarrow as pa

_THREADS = 8


def index_of(
    dataset: Dataset, partition: StoredPartition, columns: Collection[str], schema: Mapping[str, str]
) -> Index:
    """The index of *columns* of a *partition*, by reading them with Arrow.

    :param schema: column to Spark type, of all columns of the files.
    :raises StorageError: if a file can't be read.
    :raises SchemaError: if one does not fit the schema.
    """
    index: dict[str, ColumnIndex] = {}
    for member, content in partition.content.by_member(partition.directory, dataset.members).items():
        prefix = f"{member}/" if member else ""
        fields = [(name.removeprefix(prefix), kind) for name, kind in schema.items() if name.startswith(prefix)]
        types = {name: kind for name, kind in fields if f"{prefix}{name}" in columns}
        if dataset.format != "csv":  # which is read by the order of columns
            fields = list(types.items())
        if types:
            view = (dataset.table(member) if member else dataset).declaring(fields)
            values = _values(view, partition.of(content), types)
            index |= {f"{prefix}{name}": ColumnIndex(kind, values[name]) for name, kind in types.items()}
    return index


def _values(
    dataset: Dataset, partition: StoredPartition, types: Mapping[str, str]
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Column to value to the names of the files of *partition* that have it."""

    def read(name: str) -> pa.Table:
        request = ReadRequest(dataset=dataset, partitions=(partition.only([name]),), columns=tuple(types))
        table: pa.Table = reader_for("arrow", dataset).read(request)
        return table

    values: dict[str, dict[str, tuple[str, ...]]] = {column: {} for column in types}
    with translate_errors(about(dataset.path, [partition.directory]), "read"), ThreadPoolExecutor(_THREADS) as threads:
        for name, table in zip(partition.files, threads.map(read, partition.files), strict=True):
            for column, files in values.items():
                for text in _texts(table.column(column)):
                    files[text] = (*files.get(text, ()), name)
    return values


def _texts(column: pa.ChunkedArray) -> list[str]:
    """The texts of the different values of *column*: see :func:`.value_of`."""
    import pyarrow as pa

    values = column.unique().drop_null()
    if pa.types.is_floating(values.type):
        values = values.cast(pa.float64())
    elif pa.types.is_timestamp(values.type) and values.type.tz is not None:
        values = values.cast(pa.int64())
    texts: list[str] = values.cast(pa.string()).to_pylist()
    return texts
