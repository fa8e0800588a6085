"""Readers of tables: by Spark, which is given a copy of the metadata, or by pyiceberg."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.reader import Reader
from airflow_partitions.storage.io.spark_reader import known_format, quoted, session_of, spark_path
from airflow_partitions.storage.io.table_scan import TableScan

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame

FORMATS = ("iceberg",)


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
        from airflow_partitions.storage.tables.pin import pin

        folder = tempfile.mkdtemp(prefix="table-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)  # until then the frame may be read
        pin(scan.table, Path(folder))
        return folder


class ArrowTableReader(Reader):
    """Tables of Arrow."""

    frame = "arrow"
    formats = FORMATS

    def read(self, scan: ReadRequest) -> pa.Table:
        return _read(scan)


class PandasTableReader(Reader):
    """DataFrames of pandas."""

    frame = "pandas"
    formats = FORMATS

    def read(self, scan: ReadRequest) -> pd.DataFrame:
        frame: pd.DataFrame = _read(scan).to_pandas()
        return frame


class PolarsTableReader(Reader):
    """DataFrames of polars."""

    frame = "polars"
    formats = FORMATS

    def read(self, scan: ReadRequest) -> Any:
        import polars as pl

        return pl.from_arrow(_read(scan))


class LazyPolarsTableReader(Reader):
    """LazyFrames of polars, of rows that are there already."""

    frame = "polars.LazyFrame"
    formats = FORMATS

    def read(self, scan: ReadRequest) -> Any:
        return PolarsTableReader().read(scan).lazy()


def _read(scan: ReadRequest) -> pa.Table:
    from pyiceberg.expressions import AlwaysTrue

    from airflow_partitions.storage.metadata.arrow_types import spark_name
    from airflow_partitions.storage.tables.catalog import translated_errors

    table = TableScan(scan)
    columns = scan.chosen(table.columns)
    residual = table.residual_columns
    with translated_errors(f"table {scan.dataset.path!r}", "read"):
        rows = table.table.scan(
            row_filter=AlwaysTrue() if table.rows is None else table.rows.expression,
            selected_fields=tuple(dict.fromkeys([*columns, *sorted(residual)])),
        ).to_arrow()
    if scan.pruning is not None and residual:
        types = {name: spark_name(rows.schema.field(name).type) or "" for name in residual}
        rows = rows.filter(scan.pruning.to_arrow(scan.pruning.residual, types))
    return rows.select(columns)
