"""Writers of tables: their files go to the shadow of the table, from which they are published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airflow_partitions.keys import Key
from airflow_partitions.storage.io.arrow_writer import ArrowWriter, PandasWriter, PolarsWriter
from airflow_partitions.storage.io.spark_columns import fitted, types_of
from airflow_partitions.storage.io.spark_reader import known_format, spark_path
from airflow_partitions.storage.io.spark_writer import check_frame
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.io.writer import Writer
from airflow_partitions.storage.metadata.arrow_types import arrow_type
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.table_dataset import TableDataset

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from airflow_partitions.storage.tables.key_filter import KeyFilter
    from airflow_partitions.storage.tables.shadow import Shadow

FORMATS = ("iceberg",)


class SparkTableWriter(Writer):
    """Writes DataFrames of Spark. The session needs the package of Iceberg, and no catalog."""

    frame = "spark"
    formats = FORMATS

    def write(self, frame: DataFrame, key: Key, request: WriteRequest) -> StagedFiles:
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        name = request.name_of(key)
        shadow = _shadow(request)
        rows = check_frame(frame, name)
        for column, (value, kind) in _missing(rows.columns, key, request, shadow).items():
            rows = rows.withColumn(column, f.lit(value).cast(kind))
        request.check(types_of(rows), name)
        fit = fitted(rows, request.dataset)
        counts = Observation()
        with known_format("iceberg", frame.sparkSession):
            writer = fit.observe(counts, f.count(f.lit(1)).alias("rows")).write.format("iceberg").mode("append")
            writer.option("mergeSchema", "true").save(spark_path(str(shadow.folder)))
        return StagedFiles(int(counts.get["rows"]), shadow.names, types_of(fit))


class ArrowTableWriter(ArrowWriter):
    """Writes tables and batches of Arrow."""

    formats = FORMATS

    def _own(self, table: pa.Table, key: Key, request: WriteRequest) -> pa.Table:
        import pyarrow as pa

        for column, (value, kind) in _missing(table.column_names, key, request, _shadow(request)).items():
            table = table.append_column(column, pa.repeat(pa.scalar(value, arrow_type(kind)), table.num_rows))
        return table

    def _save(self, table: pa.Table, request: WriteRequest) -> Mapping[str, int]:
        shadow = _shadow(request)
        shadow.append(table, evolve=request.evolve)
        return shadow.names


class PandasTableWriter(ArrowTableWriter, PandasWriter):
    """Writes DataFrames of pandas."""

    frame = "pandas"


class PolarsTableWriter(ArrowTableWriter, PolarsWriter):
    """Writes DataFrames of polars, lazy ones too."""

    frame = "polars"


def _shadow(request: WriteRequest) -> Shadow:
    from airflow_partitions.storage.tables.shadow import Shadow

    return Shadow.open(request.folder, request.credentials)


def _missing(columns: list[str], key: Key, request: WriteRequest, shadow: Shadow) -> dict[str, tuple[Any, str]]:
    """The columns that hold the keys and are not among *columns*: each with the value of *key*, and its type."""
    from airflow_partitions.storage.tables.columns import spark_columns
    from airflow_partitions.storage.tables.key_filter import KeyFilter

    dataset = request.dataset
    assert isinstance(dataset, TableDataset)  # noqa: S101 - what has the format is one
    schema = shadow.table.schema()
    keys: KeyFilter = KeyFilter.of(dataset.layout, dataset.columns, schema)
    parts, types = dataset.layout.definition.dimensions_of(key), spark_columns(schema)
    present = {name.lower() for name in columns}
    return {
        column.name: (column.value(parts[dimension]), types[column.name])
        for dimension, column in keys.columns.items()
        if column.name.lower() not in present
    }
