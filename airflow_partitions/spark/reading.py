"""DataFrames of exactly the promised partitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from airflow_partitions.errors import MissingInputError, StorageError
from airflow_partitions.spark.inputs import Input

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

# Above this many folders Spark starts a job with one task per folder to list them; on local disks the driver is
# quicker.
_THRESHOLD = "spark.sql.sources.parallelPartitionDiscovery.threshold"


def read(spark: SparkSession, source: Input) -> DataFrame:
    """The partitions of *source* as a DataFrame: their folders are named, nothing else is listed.

    Column types are declared; the types of partition columns are never inferred.

    :raises MissingInputError: if there is nothing to read a schema from.
    """
    folders = list(source.folders)
    if not folders and source.storage.schema is None:
        raise MissingInputError(
            f"input {source.name!r} needs no partition, so it has no schema; expected Parquet(…, schema={{…}})"
        )
    schema = _schema(spark, source, folders)
    if not folders:
        return spark.createDataFrame([], schema)
    listed = spark.conf.get(_THRESHOLD)
    spark.conf.set(_THRESHOLD, str(len(folders)))
    try:
        reader = spark.read.schema(schema).option("ignoreMissingFiles", "false").option("ignoreCorruptFiles", "false")
        return reader.option("basePath", source.storage.path).parquet(*folders)
    finally:
        spark.conf.set(_THRESHOLD, str(listed))


def _schema(spark: SparkSession, source: Input, folders: list[str]) -> StructType:
    from pyspark.errors import AnalysisException
    from pyspark.sql.types import StructType

    declared = source.storage.schema
    if declared is None:
        try:
            # Without basePath the folder is a root of its own: its name is not read as a column.
            schema = spark.read.parquet(folders[0]).schema
        except AnalysisException as error:
            raise StorageError(
                f"input {source.name!r}: no schema in {folders[0]}; expected a Parquet file there, or schema={{…}}"
            ) from error
    else:
        schema = _struct(declared)
    if source.selection is None:
        return schema
    columns = {name: column.type for name, column in source.storage.layout.columns.items()}
    hidden = {name.lower() for name in columns}
    fields = [field for field in schema.fields if field.name.lower() not in hidden]
    return StructType([*fields, *_struct(columns.items()).fields])


def _struct(fields: Iterable[tuple[str, str]]) -> StructType:
    from pyspark.sql.types import StructType

    quoted = ((name.replace("`", "``"), kind) for name, kind in fields)
    return cast("StructType", StructType.fromDDL(", ".join(f"`{name}` {kind}" for name, kind in quoted)))
