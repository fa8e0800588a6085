"""Writing many partitions at once: every row goes to the partition that its own values name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.errors import ForeignRowsError, InvalidDefinitionError, LayoutError, ResultError
from airflow_partitions.keys import Key
from airflow_partitions.spark.value_index import index_of
from airflow_partitions.spark.writing import check_frame
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.filesystem.filesystem import sizes
from airflow_partitions.storage.io.spark_reader import quoted, spark_path
from airflow_partitions.storage.io.spark_writer import output_options
from airflow_partitions.storage.layout.column import Column
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.buckets import bucket_index
from airflow_partitions.storage.metadata.partition_metadata import Index, PartitionMetadata

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

    from airflow_partitions.storage.filesystem.filesystem import Location

#: Digits of the numbers in strftime formats, for columns of whole numbers.
_DIGITS = {"%Y": 4, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2, "%j": 3, "%y": 2}
_SAMPLE = 10_000
_THREADS = 8


@attrs.frozen(kw_only=True)
class Shape:
    """What files the rows of a partition become.

    :ivar shuffle: bring the rows of a partition together, so that each has one file; else there may be as many as the
        frame has parts.
    :ivar bucket_by: columns whose values decide which of *buckets* files a row goes to; this shuffles too.
    :ivar buckets: how many.
    :ivar sort_by: columns to sort the rows of a file by.
    :ivar target_file_size: bytes after which another file is begun, roughly. The size of a row is that of the rows
        stored already, else of a sample.
    """

    shuffle: bool = True
    bucket_by: Sequence[str] = ()
    buckets: int = 0
    sort_by: Sequence[str] = ()
    target_file_size: int | None = None

    def __attrs_post_init__(self) -> None:
        if bool(self.bucket_by) != (self.buckets > 0):
            raise InvalidDefinitionError(
                f"bucket_by={list(self.bucket_by)!r} and buckets={self.buckets!r}; expected both or none of them"
            )


def write_many(
    frame: DataFrame,
    files: Files,
    *,
    mode: str = "create",
    attempt: Attempt | None = None,
    shuffle: bool = True,
    bucket_by: Sequence[str] = (),
    buckets: int = 0,
    sort_by: Sequence[str] = (),
    target_file_size: int | None = None,
    index: Sequence[str] = (),
    user: Mapping[str, Any] | None = None,
    evolve: bool = False,
) -> dict[str, PartitionMetadata]:
    """Write the rows of *frame* to the partitions that their own values name: all of them, or none.

    .. code-block:: python

        write_many(flights, delays, mode="overwrite", sort_by=["delay"], index=["carrier"])

    :param frame: has all partition columns of *files*, with their text or a value of their type; they are not stored.
    :param mode: ``"create"`` fails if one of the partitions is stored, ``"append"`` adds to those that are,
        ``"overwrite"`` replaces them.
    :param attempt: who writes; see :class:`.Commit`.
    :param index: columns to remember the values of, by file: filters on them then read only the files with the value.
        It is made by reading these columns of what was written.
    :param user: what to keep with each of the partitions.
    :param evolve: let the schema change.
    :return: what each partition says about itself, by the text of its key.
    :raises ForeignRowsError: if a row names no partition of *files*.
    :raises ResultError: if *frame* lacks a partition column, or is no DataFrame that ends.
    :raises StoredError: if a partition to be created is stored.
    :raises SchemaError: if the rows have another schema than the dataset.
    :raises ConflictError: if another writer wrote one of the partitions meanwhile.

    The other parameters are those of :class:`Shape`.
    """
    shape = Shape(
        shuffle=shuffle, bucket_by=bucket_by, buckets=buckets, sort_by=sort_by, target_file_size=target_file_size
    )
    frame = _with_partition_columns(check_frame(frame, repr(files.path)), files)
    kept = frame.drop(*files.layout.columns)
    if not kept.columns:
        raise ResultError(f"the DataFrame has only partition columns {list(files.layout.columns)}; expected others too")
    schema = {field.name: field.dataType.simpleString() for field in kept.schema.fields}
    with Commit(files, attempt, evolve=evolve) as commit:
        folder = commit.folder
        writer = _shaped(frame, files, shape).write.options(**output_options(str(folder)))
        if target_file_size is not None:
            writer = writer.option("maxRecordsPerFile", str(_rows_per_file(frame, files, target_file_size, folder)))
        writer.partitionBy(*files.layout.columns).format(files.format).save(spark_path(str(folder)))
        found = _keys(folder, files)
        rows = _rows(folder, found)
        values = index_of(frame.sparkSession, folder, found, index) if index and found else {}
        for directory, key in found.items():
            indexed: Index = {**values.get(directory, {}), **_buckets(folder / directory, shape)}
            commit.put(key, mode=mode, rows=rows[directory], schema=schema, index=indexed, user=user)
    return commit.markers


def _with_partition_columns(frame: DataFrame, files: Files) -> DataFrame:
    """*frame* with the text of its partition columns in their place, under the names of the layout."""
    from pyspark.sql import functions as f

    names = {name.lower(): name for name in frame.columns}
    columns = files.layout.columns
    if missing := [name for name in columns if name.lower() not in names]:
        raise ResultError(
            f"the DataFrame has no column {', '.join(map(repr, missing))}; expected the partition columns of"
            f" {files.path!r}: {', '.join(columns)}"
        )
    texts = {name: _text(f.col(quoted(names[name.lower()])), column) for name, column in columns.items()}
    kept = [f.col(quoted(name)) for name in frame.columns if name.lower() not in {c.lower() for c in columns}]
    return frame.select(*kept, *(text.alias(name) for name, text in texts.items()))


def _text(value: SparkColumn, column: Column) -> SparkColumn:
    from pyspark.sql import functions as f

    text = value.cast(column.type).cast("string")
    digits = _DIGITS.get(column.format, 0) if column.type in ("int", "bigint") else 0
    return f.lpad(text, digits, "0") if digits else text


def _shaped(frame: DataFrame, files: Files, shape: Shape) -> DataFrame:
    from pyspark.sql import functions as f

    keys = [f.col(quoted(name)) for name in files.layout.columns]
    if shape.bucket_by:
        bucket = f.pmod(f.hash(*(f.col(quoted(name)) for name in shape.bucket_by)), f.lit(shape.buckets))
        frame = frame.repartitionById(shape.buckets, bucket.cast("int"))
    elif shape.shuffle:
        frame = frame.repartition(*keys)
    # Spark sorts by the partition columns itself, unless the rows come sorted so.
    return frame.sortWithinPartitions(*keys, *(f.col(quoted(n)) for n in shape.sort_by)) if shape.sort_by else frame


def _buckets(folder: Location, shape: Shape) -> Index:
    """Which files in *folder* belong to a bucket."""
    return bucket_index(_data(folder), shape.bucket_by, shape.buckets) if shape.bucket_by else {}


def _rows_per_file(frame: DataFrame, files: Files, target: int, folder: Location) -> int:
    from airflow_partitions.storage.filesystem.filesystem import remove
    from airflow_partitions.storage.scan.snapshot import inventory

    stored = next((p for p in inventory(files) if p.rows), None)
    if stored is not None and stored.rows:
        return max(1, target * stored.rows // max(stored.bytes, 1))
    sample = folder.with_name(f"{folder.name}-sample")
    frame.drop(*files.layout.columns).limit(_SAMPLE).coalesce(1).write.format(files.format).save(
        spark_path(str(sample))
    )
    found = _data(sample)
    rows = sum(_footer_rows(sample / name) for name in found)
    remove(sample)
    return max(1, target * rows // max(sum(found.values()), 1))


def _keys(folder: Location, files: Files) -> dict[str, Key]:
    """The key of every directory that was written."""
    levels = len(files.layout.columns)
    directories = {"/".join(name.split("/")[:levels]) for name in _data(folder) if name.count("/") == levels}
    keys = {}
    for directory in sorted(directories):
        try:
            keys[directory] = files.layout.key_of(directory)
        except LayoutError as error:
            raise ForeignRowsError(
                f"some rows belong to {directory!r}, which is no partition of {files.path!r}; expected rows of its"
                " partitions only: filter the others"
            ) from error
    return keys


def _data(folder: Location) -> dict[str, int]:
    """Files below *folder* that readers read, with their sizes."""
    return {name: size for name, size in sizes(folder).items() if name.rpartition("/")[2][0] not in "_."}


def _rows(folder: Location, directories: Mapping[str, Key]) -> dict[str, int]:
    """Rows of each directory, by the footers of its files: the rows themselves are not read again."""
    names = [name for name in _data(folder) if name.rpartition("/")[0] in directories]
    with ThreadPoolExecutor(_THREADS) as threads:
        counts = list(threads.map(lambda name: _footer_rows(folder / name), names))
    rows = dict.fromkeys(directories, 0)
    for name, count in zip(names, counts, strict=True):
        rows[name.rpartition("/")[0]] += count
    return rows


def _footer_rows(file: Location) -> int:
    from pyarrow import parquet

    with file.open("rb") as source:
        return int(parquet.ParquetFile(source).metadata.num_rows)
