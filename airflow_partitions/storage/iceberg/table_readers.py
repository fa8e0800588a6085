"""Readers of tables: by Spark, which is given a copy of the metadata, or by pyiceberg."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.storage.iceberg.table_scan import TableScan
from airflow_partitions.storage.io.arrow_reader import LazyPolarsReader, PandasReader, PolarsReader, RowsReader
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.reader import Reader
from airflow_partitions.storage.io.spark_reader import known_format, quoted, session_of, spark_path

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

FORMATS: tuple[str, ...] = ("iceberg",)


class SparkTableReader(Reader):
    """DataFrames of Spark, which needs no catalog: it is given a copy of the metadata, as it is at one moment."""

    frame = "spark"
    formats = FORMATS

    def read(self, scan: ReadRequest) -> DataFrame:
        spark, table = session_of(scan), TableScan(scan)
        with known_format("iceberg", spark):
            frame = spark.read.format("iceberg").load(spark_path(self._folder(table)))
        if table.rows is not None:
            frame = frame.where(table.rows.sql)
        if scan.pruning is not None and table.residual_columns:
            frame = frame.where(scan.pruning.to_spark(scan.pruning.residual, dict(frame.dtypes)))
        return frame if scan.columns is None else frame.select(*map(quoted, scan.chosen(frame.columns)))

    def _folder(self, scan: TableScan) -> str:
        """The folder with the metadata: where the table is pinned, or one of this machine."""
        if scan.request.dataset.pin is not None:
            return scan.request.dataset.pin
        from airflow_partitions.storage.iceberg.table.scan_copy import scan_copy

        return str(scan_copy(scan.table, scan.live))


class ArrowTableReader(RowsReader):
    """Tables of Arrow."""

    formats = FORMATS

    def _table(self, scan: ReadRequest) -> pa.Table:
        return _read(scan)


class PandasTableReader(ArrowTableReader, PandasReader):
    """DataFrames of pandas."""

    frame = "pandas"


class PolarsTableReader(ArrowTableReader, PolarsReader):
    """DataFrames of polars."""

    frame = "polars"


class LazyPolarsTableReader(ArrowTableReader, LazyPolarsReader):
    """LazyFrames of polars, of rows that are there already."""

    frame = "polars.LazyFrame"


def _read(scan: ReadRequest) -> pa.Table:
    from pyiceberg.expressions import AlwaysTrue
    from pyiceberg.io.pyarrow import ArrowScan

    from airflow_partitions.storage.iceberg.table.catalog import translated_errors
    from airflow_partitions.storage.iceberg.table.damage import damage_told
    from airflow_partitions.storage.metadata.arrow_types import spark_name

    table = TableScan(scan)
    columns = scan.chosen(table.columns)
    residual = table.residual_columns
    with translated_errors(f"table {scan.dataset.path!r}", "read"):
        selected = table.table.schema().select(*dict.fromkeys([*columns, *sorted(residual)]))
        where = AlwaysTrue() if table.rows is None else table.rows.expression
        reading = ArrowScan(table.table.metadata, table.table.io, selected, where)
        try:
            rows = reading.to_table(table.tasks)
        except (ValueError, TypeError, EOFError):
            for task in table.tasks:  # once more, one by one: the error is to name the file
                with damage_told(task.file.file_path):
                    reading.to_table([task])
            raise
    if scan.pruning is not None and residual:
        types = {name: spark_name(rows.schema.field(name).type) or "" for name in residual}
        rows = rows.filter(scan.pruning.to_arrow(scan.pruning.residual, types))
    return rows.select(columns)


#: One for each kind of frame.
READERS: tuple[Reader, ...] = (
    SparkTableReader(),
    ArrowTableReader(),
    PandasTableReader(),
    PolarsTableReader(),
    LazyPolarsTableReader(),
)
