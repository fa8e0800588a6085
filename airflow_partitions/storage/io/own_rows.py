"""Rows of a Spark DataFrame that belong to another partition than the one that is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from airflow_partitions.core.errors import ForeignRowsError, ResultError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.row_guard import guarded, guarded_row
from airflow_partitions.storage.io.spark_reader import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MARK = "a row of another partition: "


@contextmanager
def own_rows(frame: DataFrame, dataset: Dataset, key: Key) -> Iterator[DataFrame]:
    """*frame* without its partition columns, to be written inside the block; a row of another partition ends the write.

    :raises ForeignRowsError: if a row belongs to another partition than *key*.
    :raises ResultError: if *frame* has no columns of its own.
    """
    from pyspark.errors import PySparkException

    names = {name.lower(): name for name in dataset.layout.columns}
    columns = {column: names[column.lower()] for column in frame.columns if column.lower() in names}
    if len(columns) == len(frame.columns):
        raise ResultError(f"partition {str(key)!r}: there are only partition columns {[*columns]}; expected others too")
    try:
        yield _checked(frame, columns, dataset, key) if columns else frame
    except PySparkException as error:
        if (row := guarded_row(error, _MARK)) is not None:
            raise ForeignRowsError(
                f"partition {str(key)!r} of {dataset.path!r}: rows belong elsewhere, for example {row}; expected only"
                f" rows whose {', '.join(columns)} is that of the partition: filter them, or drop these columns"
            ) from error
        raise


def _checked(frame: DataFrame, columns: Mapping[str, str], dataset: Dataset, key: Key) -> DataFrame:
    from pyspark.sql import functions as f

    texts = dataset.layout.values_of(key)
    foreign = f.lit(False)
    for column, name in columns.items():
        kind = dataset.layout.columns[name].type
        value = f.expr(f"try_cast({quoted(column)} AS {kind})")  # Column.try_cast begins with Spark 4
        foreign = foreign | ~value.eqNullSafe(f.lit(texts[name]).cast(kind))
    shown = f.concat_ws(
        "/", *(f.concat(f.lit(f"{c}="), f.coalesce(frame[quoted(c)].cast("string"), f.lit("null"))) for c in columns)
    )
    own = next(name for name in frame.columns if name not in columns)
    return guarded(frame, own, foreign, _MARK, shown).drop(*columns)
