"""The index of files that Spark has written, made by reading them with Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.storage.io.spark_reader import is_pattern, quoted
from airflow_partitions.storage.io.staged_rows import directory_and_name, staged_rows
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.metadata.column_index import ColumnIndex
from airflow_partitions.storage.metadata.staged_files import StagedFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def with_index(spark: SparkSession, request: WriteRequest, staged: Mapping[str, StagedFiles]) -> dict[str, StagedFiles]:
    """What was *staged*, with the index that its dataset declares, of the columns that were written.

    :param staged: by the directory below the folder of the *request*, of one schema. Only these columns are read.
    """
    schema = next(iter(staged.values())).schema if staged else {}
    types = {column: schema[column] for column in request.dataset.index if column in schema}
    if not types or is_pattern(str(request.folder)):  # then Arrow reads them, where they are published
        return dict(staged)
    index: dict[str, dict[str, dict[str, list[str]]]] = {
        directory: {column: {} for column in types} for directory in staged
    }
    for column, text, url in values(staged_rows(spark, request, schema), types):
        directory, name = directory_and_name(url, staged)
        index[directory][column].setdefault(text, []).append(name)
    return {
        directory: attrs.evolve(
            files, index={column: ColumnIndex(kind, index[directory][column]) for column, kind in types.items()}
        )
        for directory, files in staged.items()
    }


def values(rows: DataFrame, columns: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Column, text of a value (see :func:`.value_of`), and URL of a file that has it, of all *rows* of files."""
    from pyspark.sql import functions as f

    for column in columns:
        value: Any = f.col(quoted(column))
        kind = rows.schema[column].dataType.typeName()
        if kind == "float":
            value = value.cast("double")
        elif kind == "timestamp":  # its text would be that of the zone of the session
            value = f.unix_micros(value)
        pairs = rows.select(f.col("_metadata.file_path").alias("file"), value.cast("string").alias("value")).distinct()
        for row in pairs.where("value is not null").orderBy("value", "file").collect():
            yield column, row["value"], row["file"]
