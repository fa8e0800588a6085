"""Writers of tables: their files go to the shadow of the table, from which they are published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from airflow_partitions.core.errors import ForeignRowsError, ResultError, WriterError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.iceberg.iceberg_dataset import Iceberg
from airflow_partitions.storage.io.arrow_writer import ArrowWriter, PandasWriter, PolarsWriter, check_shape, grouped
from airflow_partitions.storage.io.shape import Shape
from airflow_partitions.storage.io.spark_columns import fitted, types_of
from airflow_partitions.storage.io.spark_reader import known_format, spark_path
from airflow_partitions.storage.io.spark_writer import check_frame
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.io.writer import Writer
from airflow_partitions.storage.metadata.arrow_types import arrow_type
from airflow_partitions.storage.metadata.staged_files import StagedFiles

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter
    from airflow_partitions.storage.iceberg.table.shadow import Shadow

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
        _append(fit.observe(counts, f.count(f.lit(1)).alias("rows")), shadow)
        return StagedFiles(int(counts.get["rows"]), shadow.names, types_of(fit))

    def write_many(self, frame: DataFrame, request: WriteRequest, shape: Shape) -> Mapping[Key, StagedFiles]:
        name, shadow, options = repr(request.dataset.path), _shadow(request), _options(shape, request)
        rows = check_frame(frame, name)
        _check_key_columns(rows.columns, request, shadow)
        request.check(types_of(rows), name)
        fit = fitted(rows, request.dataset)
        shadow.keep_apart(_keys(request, shadow))
        _append(fit, shadow, **options)
        return _by_key(request, shadow, types_of(fit))


class ArrowTableWriter(ArrowWriter):
    """Writes tables and batches of Arrow."""

    formats = FORMATS

    def _own(self, table: pa.Table, key: Key, request: WriteRequest) -> pa.Table:
        import pyarrow as pa

        for column, (value, kind) in _missing(table.column_names, key, request, _shadow(request)).items():
            table = table.append_column(column, pa.repeat(pa.scalar(value, arrow_type(kind)), table.num_rows))
        return table

    def write_many(self, frame: Any, request: WriteRequest, shape: Shape) -> Mapping[Key, StagedFiles]:
        from airflow_partitions.storage.iceberg.table.key_parts import KeyParts

        check_shape(shape)
        name, shadow = repr(request.dataset.path), _shadow(request)
        table = self._named(frame, request, name)
        _check_key_columns(table.column_names, request, shadow)
        cast, schema = self._cast(table, request, name)
        parts = KeyParts.of(cast, _keys(request, shadow), request.dataset.path)
        shadow.append(*(rows for _, rows in grouped(cast, parts.numbers)), evolve=request.evolve)
        return _by_key(request, shadow, schema)

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
    from airflow_partitions.storage.iceberg.table.shadow import Shadow

    return Shadow.open(request.folder, request.credentials)


def _keys(request: WriteRequest, shadow: Shadow) -> KeyFilter:
    from airflow_partitions.storage.iceberg.table.key_filter import KeyFilter

    dataset = cast("Iceberg", request.dataset)  # what has the format is one
    return KeyFilter.of(dataset.layout, dataset.columns, shadow.table.schema())


def _missing(columns: list[str], key: Key, request: WriteRequest, shadow: Shadow) -> dict[str, tuple[Any, str]]:
    """The columns that hold the keys and are not among *columns*: each with the value of *key*, and its type."""
    from airflow_partitions.storage.iceberg.table.columns import spark_columns

    parts = request.dataset.layout.definition.dimensions_of(key)
    types = spark_columns(shadow.table.schema())
    present = {name.lower() for name in columns}
    return {
        column.name: (column.value(parts[dimension]), types[column.name])
        for dimension, column in _keys(request, shadow).columns.items()
        if column.name.lower() not in present
    }


def _check_key_columns(columns: list[str], request: WriteRequest, shadow: Shadow) -> None:
    """Make sure that rows of *columns* say which key they are of."""
    names = [column.name for column in _keys(request, shadow).columns.values()]
    if missing := [name for name in names if name.lower() not in {each.lower() for each in columns}]:
        raise ResultError(
            f"the frame has no column {', '.join(map(repr, missing))}; expected those that hold the keys of"
            f" {request.dataset.path!r}: {', '.join(names)}"
        )


def _options(shape: Shape, request: WriteRequest) -> dict[str, str]:
    """How Spark writes files of *shape*.

    :raises WriterError: if they are of a shape that the table has to say.
    """
    if shape.bucket_by or shape.sort_by:
        asked = "bucket_by" if shape.bucket_by else "sort_by"
        raise WriterError(
            f"{asked}= is not for the table {request.dataset.path!r}, which says by itself how its files are made up;"
            " expected that of the table: ALTER TABLE … ADD PARTITION FIELD bucket(…), or WRITE ORDERED BY"
        )
    size = {} if shape.target_file_size is None else {"target-file-size-bytes": str(shape.target_file_size)}
    return {"distribution-mode": "hash" if shape.shuffle else "none", **size}


def _append(rows: DataFrame, shadow: Shadow, **options: str) -> None:
    with known_format("iceberg", rows.sparkSession):
        writer = rows.write.format("iceberg").mode("append").option("mergeSchema", "true").options(**options)
        writer.save(spark_path(str(shadow.folder)))


def _by_key(request: WriteRequest, shadow: Shadow, schema: Mapping[str, str]) -> dict[Key, StagedFiles]:
    """What was written, by the key that all rows of a file are of.

    :raises ForeignRowsError: if there is a row of none.
    """
    from airflow_partitions.storage.iceberg.table.file_keys import FileKeys

    keys = FileKeys.of(_keys(request, shadow), shadow.table.metadata)
    staged: dict[Key, StagedFiles] = {}
    for name, file in shadow.files_by_name().items():
        if (key := keys.key_of(file)) is None:
            raise ForeignRowsError(
                f"some rows belong to no partition of {request.dataset.path!r}: {keys.shown(file)}; expected rows of"
                " its partitions only: filter the others"
            )
        before = staged.get(key, StagedFiles(0, {}, schema))
        files = {**before.files, name: file.file_size_in_bytes}
        staged[key] = StagedFiles((before.rows or 0) + file.record_count, files, schema)
    return staged


#: One for each kind of frame.
WRITERS: tuple[Writer, ...] = (SparkTableWriter(), ArrowTableWriter(), PandasTableWriter(), PolarsTableWriter())
