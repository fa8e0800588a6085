"""The index of values: column to value to the files that have it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from airflow_partitions.errors import ResultError
from airflow_partitions.storage.io.spark_reader import quoted
from airflow_partitions.storage.io.staged_rows import directory_and_name
from airflow_partitions.storage.metadata.partition_metadata import Index

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def index_of(rows: DataFrame, directories: Collection[str], columns: Sequence[str]) -> dict[str, Index]:
    """For each of *directories* the files that have each value of *columns*; only these are read.

    :param rows: what was written to them, see :func:`.staged_rows`.

    A value is known by its text in Spark, a timestamp by its microseconds since 1970 in UTC: its text would be that of
    the session's zone. Null has no text, so that files with nulls alone are in no list.

    :raises ResultError: if there is no such column.
    """
    from pyspark.sql import functions as f
    from pyspark.sql.types import TimestampType

    index: dict[str, dict[str, dict[str, list[str]]]] = {
        directory: {c: {} for c in columns} for directory in directories
    }
    for column in columns:
        if column not in rows.columns:
            raise ResultError(f"there is no column {column!r} to index; expected one of: {', '.join(rows.columns)}")
        value = f.col(quoted(column))
        if isinstance(rows.schema[column].dataType, TimestampType):
            value = f.unix_micros(value)
        value = value.cast("string")
        pairs = rows.select(f.col("_metadata.file_path").alias("file"), value.alias("value")).distinct()
        for row in pairs.where("value is not null").orderBy("value", "file").collect():
            directory, name = directory_and_name(row["file"], directories)
            index[directory][column].setdefault(row["value"], []).append(name)
    return {
        directory: {c: {v: tuple(n) for v, n in vs.items()} for c, vs in each.items()}
        for directory, each in index.items()
    }
