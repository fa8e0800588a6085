"""DataFrames of exactly the promised partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from airflow_partitions.spark.inputs import Input
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.spark_reader import SparkReader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from airflow_partitions.storage.scan.stored_partition import StoredPartition


def read(spark: SparkSession, source: Input, stored: Mapping[str, StoredPartition] | None = None) -> DataFrame:
    """The partitions of *source* as a DataFrame: their folders are named, nothing else is listed.

    Column types are declared; the types of partition columns are never inferred.

    :param stored: what is stored of them; by default it is looked up.
    :raises MissingInputError: if one is not stored, or there is nothing to read a schema from.
    :raises SchemaError: if a file does not fit the declared schema; before any job is started.
    """
    found = source.stored() if stored is None else stored
    partitions = None if source.selection is None else tuple(found.values())
    return SparkReader().read(ReadRequest(files=source.storage, partitions=partitions, spark=spark))
