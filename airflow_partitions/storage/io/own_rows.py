"""Rows of a Spark DataFrame that belong to another partition than the one that is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from airflow_partitions.errors import ForeignRowsError, ResultError
from airflow_partitions.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.spark_reader import quoted

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame

#: What such a row says, to tell it from what the author's own `raise_error` says.
_ELSEWHERE = "a row of another partition: "


@contextmanager
def own_rows(frame: DataFrame, files: Dataset, key: Key) -> Iterator[DataFrame]:
    """*frame* without its partition columns, to be written inside the block; a row of another partition ends the write.

    The check is part of the write: it costs neither a second pass over the rows nor a second run of what makes them.

    :raises ForeignRowsError: if a row belongs to another partition than *key*.
    :raises ResultError: if *frame* has no columns of its own.
    """
    from pyspark.errors import PySparkException

    names = {name.lower(): name for name in files.layout.columns}
    held = {column: names[column.lower()] for column in frame.columns if column.lower() in names}
    if len(held) == len(frame.columns):
        raise ResultError(f"partition {str(key)!r}: there are only partition columns {[*held]}; expected others too")
    try:
        yield _checked(frame, held, files, key) if held else frame
    except PySparkException as error:
        if sample := _foreign_row(error):
            raise ForeignRowsError(
                f"partition {str(key)!r} of {files.path!r}: rows belong elsewhere, for example {sample}; expected only"
                f" rows whose {', '.join(held)} is that of the partition: filter them, or drop these columns"
            ) from error
        raise


def _checked(frame: DataFrame, held: Mapping[str, str], files: Dataset, key: Key) -> DataFrame:
    from pyspark.sql import functions as f

    texts = files.layout.values_of(key)
    strange = f.lit(False)
    for column, name in held.items():
        kind = files.layout.columns[name].type
        strange = strange | ~frame[quoted(column)].try_cast(kind).eqNullSafe(f.lit(texts[name]).cast(kind))
    shown = f.concat_ws(
        "/", *(f.concat(f.lit(f"{c}="), f.coalesce(frame[quoted(c)].cast("string"), f.lit("null"))) for c in held)
    )
    # In a column that is written: a condition of its own could be moved below a join that leaves such rows out.
    field = next(field for field in frame.schema.fields if field.name not in held)
    guarded = f.when(strange, f.raise_error(f.concat(f.lit(_ELSEWHERE), shown))).otherwise(frame[quoted(field.name)])
    return frame.withColumn(field.name, guarded.alias(field.name, metadata=field.metadata)).drop(*held)


def _foreign_row(error: PySparkException) -> str:
    """The partition columns of the row that ended a write, if it is one of another partition that did."""
    raised = (error.getMessageParameters() or {}).get("errorMessage", "")
    return raised.removeprefix(_ELSEWHERE) if raised.startswith(_ELSEWHERE) else ""
