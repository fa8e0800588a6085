"""Rows that end the write that they are part of.

That costs neither a second pass over the rows nor a second run of what makes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.storage.io.spark_reader import quoted

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql import Column, DataFrame


def guarded(frame: DataFrame, column: str, condition: Column, mark: str, text: Column) -> DataFrame:
    """*frame*, of which a row that meets *condition* is an error.

    :param column: a column that is written: a condition of its own could be moved below a join that leaves such rows
        out.
    :param mark: how the error begins, to tell it from what the author's own ``raise_error`` says.
    :param text: what it says of the row.
    """
    from pyspark.sql import functions as f

    value = f.when(condition, f.raise_error(f.concat(f.lit(mark), text))).otherwise(frame[quoted(column)])
    return frame.withColumn(column, value.alias(column, metadata=frame.schema[column].metadata))


def guarded_row(error: PySparkException, mark: str) -> str | None:
    """What was said of the row that ended a write, if one did."""
    message = (error.getMessageParameters() or {}).get("errorMessage", "")
    return message.removeprefix(mark) if message.startswith(mark) else None
