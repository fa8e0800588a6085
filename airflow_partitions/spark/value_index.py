"""Which files have which values of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from airflow_partitions.errors import ResultError
from airflow_partitions.storage.io.spark_reader import quoted, spark_path
from airflow_partitions.storage.metadata.partition_metadata import Index

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from airflow_partitions.storage.filesystem.filesystem import Location


def index_of(
    spark: SparkSession, folder: Location, directories: Mapping[str, Any], columns: Sequence[str]
) -> dict[str, Index]:
    """For each of *directories* below *folder* the files that have each value of *columns*; only these are read.

    A value is known by its text in Spark; null has none, so that files with nulls alone are in no list.

    :raises ResultError: if there is no such column.
    """
    from pyspark.sql import functions as f

    rows = spark.read.option("recursiveFileLookup", "true").parquet(spark_path(str(folder)))
    found: dict[str, dict[str, dict[str, list[str]]]] = {
        directory: {c: {} for c in columns} for directory in directories
    }
    for column in columns:
        if column not in rows.columns:
            raise ResultError(f"there is no column {column!r} to index; expected one of: {', '.join(rows.columns)}")
        value = f.col(quoted(column)).cast("string")
        pairs = rows.select(f.col("_metadata.file_path").alias("file"), value.alias("value")).distinct()
        for row in pairs.where("value is not null").orderBy("value", "file").collect():
            directory, name = _split(row["file"], directories)
            found[directory][column].setdefault(row["value"], []).append(name)
    return {
        directory: {c: {v: tuple(n) for v, n in vs.items()} for c, vs in each.items()}
        for directory, each in found.items()
    }


def _split(url: str, directories: Mapping[str, Any]) -> tuple[str, str]:
    """Directory and name of a file, of the URL that Spark gives it: a path, escaped once more."""
    path, _, name = unquote(url).rpartition("/")
    levels = path.split("/")
    depth = next(iter(directories)).count("/") + 1
    return "/".join(levels[-depth:]), name
