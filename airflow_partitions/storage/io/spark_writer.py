"""Writing DataFrames of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.paths import is_local
from airflow_partitions.storage.io.own_rows import own_rows
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.spark_reader import format_options, known_format, spark_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_partitions.storage.filesystem.filesystem import Location


def write_spark(frame: DataFrame, files: Dataset, key: Key, folder: Location) -> tuple[int, dict[str, str]]:
    """Write *frame* to *folder* as the rows of *key*; they are counted on the way.

    :return: how many rows there are, and column to Spark type.
    :raises ForeignRowsError: if a row belongs to another partition.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    counts = Observation()
    options = {**output_options(str(folder)), **format_options(ReadRequest(files=files))}
    with own_rows(frame, files, key) as kept, known_format(files.format, frame.sparkSession):
        counted = kept.observe(counts, f.count(f.lit(1)).alias("rows"))
        counted.write.mode("append").format(files.format).options(**options).save(spark_path(str(folder)))
    return counts.get["rows"], {field.name: field.dataType.simpleString() for field in kept.schema.fields}


def output_options(folder: str) -> dict[str, str]:
    """How Spark's tasks bring their files to *folder*, where nobody looks before it is published.

    On object stores a rename is a copy, so that one for each task is enough there; for none configure the magic
    committer of S3A.
    """
    options = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
    return options if is_local(folder) else {**options, "mapreduce.fileoutputcommitter.algorithm.version": "2"}
