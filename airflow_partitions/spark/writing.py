"""Writing the rows of one partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow_partitions.errors import ResultError
from airflow_partitions.partition import Partition
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.io.own_rows import own_rows
from airflow_partitions.storage.io.spark_writer import output_options
from airflow_partitions.storage.metadata.schema import SchemaRule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def write(frame: DataFrame, folder: str, storage: Files, partition: Partition) -> dict[str, str]:
    """Write *frame* to *folder* as the rows of *partition*; its partition columns are checked and left out.

    :return: column to type of what was written.
    :raises ForeignRowsError: if a row belongs to another partition.
    :raises ResultError: if *frame* is not a DataFrame with columns of its own, or is a stream.
    :raises SchemaError: if *storage* declares other columns.
    """
    checked = check_frame(frame, f"partition {partition.text!r}")
    with own_rows(checked, storage, partition.wrapped) as kept:
        schema = {field.name: field.dataType.simpleString() for field in kept.schema.fields}
        if storage.schema is not None:
            SchemaRule().check(dict(storage.schema), schema, partition.text)
        kept.write.options(**output_options(folder)).parquet(folder)
    return schema


def check_frame(frame: Any, what: str) -> DataFrame:
    """*frame*, if it is one that can be written.

    :param what: what it is to become, for the message.
    :raises ResultError: if it can't.
    """
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        hint = ": return the DataFrame instead of writing it" if frame is None else ": use spark.createDataFrame(…)"
        raise ResultError(f"{what}: got {type(frame).__name__}; expected a Spark DataFrame{hint}")
    if frame.isStreaming:
        raise ResultError(f"{what}: got a streaming DataFrame; expected one that ends (spark.read)")
    return frame
