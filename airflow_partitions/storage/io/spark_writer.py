"""Writing DataFrames of Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from airflow_partitions.core.errors import ResultError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.filesystem.filesystem import remove, sizes
from airflow_partitions.storage.io.nameable_rows import nameable_rows
from airflow_partitions.storage.io.own_rows import own_rows
from airflow_partitions.storage.io.shape import Shape
from airflow_partitions.storage.io.spark_client import is_of_older_connect
from airflow_partitions.storage.io.spark_columns import fitted, shaped, types_of, with_directory_columns
from airflow_partitions.storage.io.spark_index import with_index
from airflow_partitions.storage.io.spark_options import write_options
from airflow_partitions.storage.io.spark_reader import known_format, spark_path
from airflow_partitions.storage.io.staged_rows import directory_and_name, staged_rows
from airflow_partitions.storage.io.writable_rows import writable_rows
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.io.writer import Writer
from airflow_partitions.storage.metadata.schema import check_names
from airflow_partitions.storage.metadata.staged_files import StagedFiles, readable_files
from airflow_partitions.storage.scan.snapshot import inventory

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from airflow_partitions.storage.filesystem.filesystem import Location

_SAMPLE = 10_000
_THREADS = 8


class SparkWriter(Writer):
    """Writes DataFrames of Spark, in every format that the session knows. Rows are counted on the way."""

    frame = "spark"

    def write(self, frame: DataFrame, key: Key, request: WriteRequest) -> StagedFiles:
        name = request.name_of(key)
        with own_rows(check_frame(frame, name), request.dataset, key) as own:
            request.check(types_of(own), name)
            fit = fitted(own, request.dataset)
            rows = _save(fit, request, request.folder, mode="overwrite")
        files = readable_files(request.folder)
        if rows is None:
            rows = _counts(frame.sparkSession, request, types_of(fit), {"": files})[""]
        staged = StagedFiles(rows, files, types_of(fit))
        return with_index(frame.sparkSession, request, {"": staged})[""]

    def write_many(self, frame: DataFrame, request: WriteRequest, shape: Shape) -> Mapping[Key, StagedFiles]:
        dataset = request.dataset
        columns = list(dataset.layout.columns)
        keyed = with_directory_columns(check_frame(frame, repr(dataset.path)), dataset)
        if len(keyed.columns) == len(columns):
            raise ResultError(f"the DataFrame has only partition columns {columns}; expected others too")
        request.check(types_of(keyed.drop(*columns)), repr(dataset.path))
        fit = fitted(keyed, dataset, columns)
        schema = types_of(fit.drop(*columns))
        limit: dict[str, Any] = {}
        if shape.target_file_size is not None:
            limit["maxRecordsPerFile"] = _rows_per_file(fit, request, shape.target_file_size)
        with nameable_rows(fit, dataset) as named:
            rows = _save(shaped(named, dataset, shape), request, request.folder, *columns, **limit)
        names = _names(request)
        keys = {directory: request.key_of(directory) for directory in names}
        counts = _counts(frame.sparkSession, request, schema, names)
        if rows is not None and sum(counts.values()) != rows:
            raise ResultError(
                f"{dataset.path!r}: {rows} rows were written, but the files hold {sum(counts.values())}; expected the"
                " same: run it again"
            )
        staged = {directory: StagedFiles(counts[directory], names[directory], schema) for directory in names}
        staged = with_index(frame.sparkSession, request, staged)
        return {keys[directory]: files for directory, files in staged.items()}


def check_frame(frame: Any, name: str) -> DataFrame:
    """The *frame*, if it can be written.

    :raises ResultError: if it is no DataFrame, or never ends.
    :raises SchemaError: if two of its columns are one to Spark.
    """
    from pyspark.sql import DataFrame

    if not (isinstance(frame, DataFrame) or (type(frame).__name__ == "DataFrame" and is_of_older_connect(frame))):
        hint = ": return the DataFrame instead of writing it" if frame is None else ": use spark.createDataFrame(…)"
        raise ResultError(f"{name}: got {type(frame).__name__}; expected a Spark DataFrame{hint}")
    if frame.isStreaming:
        raise ResultError(f"{name}: got a streaming DataFrame; expected one that ends (spark.read)")
    check_names(frame.columns, name)
    checked: DataFrame = frame
    return checked


def _save(
    frame: DataFrame, request: WriteRequest, folder: Location, *columns: str, mode: str = "error", **options: Any
) -> int | None:
    """Write *frame* as files below *folder*, in directories by *columns*.

    :return: how many rows there are. A task that is run twice counts once, since nothing is shuffled after the count.
        ``None`` if a busy server of Spark Connect, which waits for the count a tenth of a second only, has not said it,
        or its client is that of Spark 3.5, which can't.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    counts = Observation()
    format_ = request.dataset.format
    with known_format(format_, frame.sparkSession), writable_rows(frame, request.dataset, columns) as rows:
        is_observed = not is_of_older_connect(frame)
        observed = rows.observe(counts, f.count(f.lit(1)).alias("rows")) if is_observed else rows
        writer = observed.write.format(format_)
        writer = writer.options(**write_options(request), **options).mode(mode)
        (writer.partitionBy(*columns) if columns else writer).save(spark_path(str(folder)))
    values = counts.get if is_observed else {}
    return int(values["rows"]) if "rows" in values else None


def _rows_per_file(frame: DataFrame, request: WriteRequest, target: int) -> int:
    """How many rows make a file of the wanted size."""
    stored = next((partition for partition in inventory(request.dataset) if partition.rows), None)
    if stored is not None and stored.rows:
        return max(1, target * stored.rows // max(stored.bytes, 1))
    folder = request.folder.with_name(f"{request.folder.name}-sample")
    sample = frame.drop(*request.dataset.layout.columns).limit(_SAMPLE).coalesce(1)
    rows = _save(sample, request, folder) or _SAMPLE
    size = sum(_data(folder).values())
    remove(folder)
    return max(1, target * rows // max(size, 1))


def _names(request: WriteRequest) -> dict[str, dict[str, int]]:
    """The files in each directory that was written, with their sizes."""
    levels = len(request.dataset.layout.columns)
    names: dict[str, dict[str, int]] = {}
    for path, size in _data(request.folder).items():
        directory, _, name = path.rpartition("/")
        if path.count("/") == levels:
            names.setdefault(directory, {})[name] = size
    return names


def _data(folder: Location) -> dict[str, int]:
    """Files below *folder* that readers read, with their sizes."""
    return {name: size for name, size in sizes(folder).items() if name.rpartition("/")[2][0] not in "_."}


def _counts(
    spark: SparkSession, request: WriteRequest, schema: Mapping[str, str], names: Mapping[str, Mapping[str, int]]
) -> dict[str, int]:
    """Rows of each directory, of the files that were committed: by their footers, or else by reading them."""
    from pyspark.sql import functions as f

    counts = dict.fromkeys(names, 0)
    if footer := _FOOTERS.get(request.dataset.format):
        paths = [(directory, name) for directory in names for name in names[directory]]
        with ThreadPoolExecutor(_THREADS) as threads:
            rows = threads.map(lambda path: footer(request.folder / path[0] / path[1]), paths)
        for (directory, _), count in zip(paths, rows, strict=True):
            counts[directory] += count
    elif names:
        staged = staged_rows(spark, request, schema).groupBy(f.col("_metadata.file_path").alias("file"))
        for row in staged.count().collect():
            counts[directory_and_name(row["file"], names)[0]] += row["count"]
    return counts


def _parquet_rows(file: Location) -> int:
    from pyarrow import parquet

    with file.open("rb") as source:
        return int(parquet.ParquetFile(source).metadata.num_rows)


def _orc_rows(file: Location) -> int:
    from pyarrow import orc

    with file.open("rb") as source:
        return int(orc.ORCFile(source).nrows)


#: Rows of a file, by the format whose footers tell it.
_FOOTERS: Mapping[str, Callable[[Location], int]] = {"parquet": _parquet_rows, "orc": _orc_rows}
