"""Writing the rows of one partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow_partitions.errors import ForeignRowsError, ResultError
from airflow_partitions.partition import Partition
from airflow_partitions.storage.contents.schema import SchemaRule
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.reading.readers.spark import quoted
from airflow_partitions.storage.writing.spark import output_options

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame

#: What a row of another partition says, to tell it from what the author's own `raise_error` says.
_ELSEWHERE = "a row of another partition: "


def write(frame: DataFrame, folder: str, storage: Files, partition: Partition) -> dict[str, str]:
    """Write *frame* to *folder* as the rows of *partition*; its partition columns are checked and left out.

    The check is part of the write: it costs neither a second pass over the rows nor a second run of what makes them.

    :return: column to type of what was written.
    :raises ForeignRowsError: if a row belongs to another partition.
    :raises ResultError: if *frame* is not a DataFrame with columns of its own, or is a stream.
    :raises SchemaError: if *storage* declares other columns.
    """
    from pyspark.errors import PySparkException

    columns = _partition_columns(check_frame(frame, f"partition {partition.text!r}"), storage)
    kept = frame.drop(*columns)
    if not kept.columns:
        raise ResultError(
            f"partition {partition.text!r}: the DataFrame has only partition columns {sorted(columns)};"
            " expected others too"
        )
    schema = {field.name: field.dataType.simpleString() for field in kept.schema.fields}
    if storage.schema is not None:
        SchemaRule().check(dict(storage.schema), schema, partition.text)
    try:
        _checked(frame, columns, storage, partition).write.options(**output_options(folder)).parquet(folder)
    except PySparkException as error:
        if sample := _foreign_row(error):
            raise ForeignRowsError(
                f"partition {partition.text!r}: rows belong elsewhere, for example {sample}; expected only rows whose"
                f" {', '.join(columns)} is that of the partition: filter them, or drop these columns"
            ) from error
        raise
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


def _partition_columns(frame: DataFrame, storage: Files) -> dict[str, str]:
    """Columns of *frame* that are partition columns, each with the storage's name for it."""
    names = {name.lower(): name for name in storage.layout.columns}
    return {column: names[column.lower()] for column in frame.columns if column.lower() in names}


def _checked(frame: DataFrame, columns: dict[str, str], storage: Files, partition: Partition) -> DataFrame:
    """*frame* without its partition *columns*, whose first row of another partition ends the write."""
    from pyspark.sql import functions as f

    if not columns:
        return frame
    expected = storage.layout.values_of(partition.definition.parse(partition.text))
    strange = f.lit(False)
    for column, name in columns.items():
        kind = storage.layout.columns[name].type
        same = frame[quoted(column)].try_cast(kind).eqNullSafe(f.lit(expected[name]).cast(kind))
        strange = strange | ~same
    shown = f.concat_ws(
        "/", *(f.concat(f.lit(f"{c}="), f.coalesce(frame[quoted(c)].cast("string"), f.lit("null"))) for c in columns)
    )
    # In a column that is written: a condition of its own could be moved below a join that leaves such rows out.
    field = next(field for field in frame.schema.fields if field.name not in columns)
    guarded = f.when(strange, f.raise_error(f.concat(f.lit(_ELSEWHERE), shown))).otherwise(frame[quoted(field.name)])
    return frame.withColumn(field.name, guarded.alias(field.name, metadata=field.metadata)).drop(*columns)


def _foreign_row(error: PySparkException) -> str:
    """The partition columns of the row of another partition that ended a write, if it is that what did."""
    raised = (error.getMessageParameters() or {}).get("errorMessage", "")
    return raised.removeprefix(_ELSEWHERE) if raised.startswith(_ELSEWHERE) else ""
