"""Readers without Spark: pyarrow, and pandas and polars by way of it."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.errors import FilterError
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.filters.filter import Filter
from airflow_partitions.storage.io.arrow_dataset import dataset
from airflow_partitions.storage.io.read_request import ReadRequest, check_columns
from airflow_partitions.storage.io.reader import Reader
from airflow_partitions.storage.io.record_reader import read_records
from airflow_partitions.storage.io.schemas import TYPED
from airflow_partitions.storage.metadata.arrow_types import spark_name

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

FORMATS: tuple[str, ...] = ("parquet", "orc", "csv", "json", "text", "avro")


def source_of(scan: ReadRequest) -> ds.Dataset:
    """The rows of *scan*, not read yet where Arrow can read them in parts."""
    return read_records(scan) if scan.dataset.format in ("text", "json", "avro") else dataset(scan)


def read_table(scan: ReadRequest) -> pa.Table:
    """The rows of *scan* as a table of Arrow."""
    import pyarrow as pa

    source = source_of(scan)
    columns, rows = scan.chosen(source.schema.names), None
    if scan.pruning is not None and scan.pruning.residual is not None:
        rows = scan.pruning.to_arrow(scan.pruning.residual, _types(source.schema, scan.pruning.residual, scan))
    form = f"read as {scan.dataset.format}"
    with translate_errors(repr(scan.dataset.path), form, damaged=(ValueError, pa.ArrowTypeError)):
        try:
            return source.to_table(columns=columns, filter=rows)
        except (OSError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
            for file in source.get_fragments():  # once more, one by one: the error is to name the file
                with translate_errors(
                    partial(scan.named, getattr(file, "path", "")), form, damaged=(ValueError, pa.ArrowTypeError)
                ):
                    file.to_table(schema=source.schema, columns=source.schema.names)
            if rows is None or isinstance(error, OSError):
                raise
            raise FilterError(f"{scan.dataset.path!r}: {rows} can't be told of its rows: {error}") from error


def _types(schema: pa.Schema, rows: Filter, scan: ReadRequest) -> dict[str, str]:
    """Spark's names of the types of the columns that *rows* is about."""
    import pyarrow as pa

    names = {condition.field for condition in rows.conditions()}
    check_columns(scan, names, schema.names)
    types = {name: schema.field(name).type for name in names}
    plain = {name: kind.value_type if pa.types.is_dictionary(kind) else kind for name, kind in types.items()}
    return {name: spark_name(kind) or str(kind) for name, kind in plain.items()}


class RowsReader(Reader):
    """Tables of Arrow, of which other kinds of frames are made."""

    frame = "arrow"

    def read(self, scan: ReadRequest) -> Any:
        return self._table(scan)

    @abstractmethod
    def _table(self, scan: ReadRequest) -> pa.Table:
        """The rows of *scan*."""


class ArrowReader(RowsReader):
    """Tables of Arrow."""

    formats = FORMATS

    def _table(self, scan: ReadRequest) -> pa.Table:
        return read_table(scan)


class PandasReader(ArrowReader):
    """DataFrames of pandas."""

    frame = "pandas"

    def read(self, scan: ReadRequest) -> Any:
        return self._table(scan).to_pandas()


class PolarsReader(ArrowReader):
    """DataFrames of polars."""

    frame = "polars"

    def read(self, scan: ReadRequest) -> Any:
        import polars as pl

        return pl.from_arrow(self._table(scan))


class LazyPolarsReader(PolarsReader):
    """LazyFrames of polars: of Parquet and ORC files only the columns and rows that a query needs are read, when it
    is collected.
    """

    frame = "polars.LazyFrame"

    def read(self, scan: ReadRequest) -> Any:
        import polars as pl

        if scan.dataset.format not in TYPED:
            return super().read(scan).lazy()
        source = dataset(scan)
        columns = scan.chosen(source.schema.names)
        if scan.pruning is not None and scan.pruning.residual is not None:
            rows = scan.pruning.residual
            source = source.filter(scan.pruning.to_arrow(rows, _types(source.schema, rows, scan)))
        return pl.scan_pyarrow_dataset(source).select(columns)
