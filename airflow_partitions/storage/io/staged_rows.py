"""Rows that were written and are not published yet, as Spark reads them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

from airflow_partitions.storage.io.spark_options import read_options
from airflow_partitions.storage.io.spark_reader import spark_path, struct_of
from airflow_partitions.storage.io.write_request import WriteRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def staged_rows(spark: SparkSession, request: WriteRequest, schema: Mapping[str, str]) -> DataFrame:
    """All rows below the folder of *request*, without partition columns; ``_metadata.file_path`` tells their file."""
    reader = spark.read.format(request.dataset.format).schema(struct_of(spark, schema.items()))
    options = {**read_options(request), "recursiveFileLookup": "true"}
    return reader.options(**options).load(spark_path(str(request.folder)))


def directory_and_name(url: str, directories: Collection[str]) -> tuple[str, str]:
    """Which of *directories* a file is in, and its name, of the URL that Spark gives it: a path, escaped once more.

    ``""`` is the directory of all that are in none.
    """
    path, _, name = unquote(url).rpartition("/")
    levels = path.split("/")
    depth = len(next(iter(directories)).split("/"))
    directory = "/".join(levels[-depth:])
    return directory if directory in directories else "", name
