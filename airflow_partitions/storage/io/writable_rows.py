"""Rows of a Spark DataFrame that the files of a format can't hold: they end the write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from airflow_partitions.core.errors import WriterError
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.row_guard import guarded, guarded_row
from airflow_partitions.storage.io.spark_client import condition_of
from airflow_partitions.storage.io.spark_reader import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MARK = "a row that the format can't hold: "
_LINE_BREAK = "[\\r\\n]"


@contextmanager
def writable_rows(frame: DataFrame, dataset: Dataset, partition_columns: Sequence[str] = ()) -> Iterator[DataFrame]:
    """*frame*, to be written inside the block.

    :raises WriterError: if the format of *dataset* can't hold a column, or a row.
    """
    from pyspark.errors import AnalysisException, PySparkException
    from pyspark.sql import functions as f

    names = [name for name in frame.columns if name not in partition_columns]
    checks = list(_unwritable(frame, dataset, names))
    if checks:
        condition = reduce(or_, (rows for rows, _ in checks))
        reasons = f.coalesce(*(f.when(rows, f.lit(reason)) for rows, reason in checks))
        frame = guarded(frame, names[0], condition, _MARK, reasons)
    try:
        yield frame
    except AnalysisException as error:
        if condition_of(error) != "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE":
            raise
        column = (error.getMessageParameters() or {}).get("columnName", "")
        raise WriterError(f"{dataset.path!r}: {dataset.format} can't hold column {column}: {error}") from error
    except PySparkException as error:
        if (row := guarded_row(error, _MARK)) is None:
            raise
        raise WriterError(f"{dataset.path!r}: {dataset.format} can't hold {row}") from error


def _unwritable(frame: DataFrame, dataset: Dataset, names: Sequence[str]) -> Iterator[tuple[Column, str]]:
    """Conditions that no row may meet, each with what is wrong then."""
    options = {name.lower(): str(value).lower() for name, value in dataset.options}
    null, one = frame[quoted(names[0])].isNull(), len(names) == 1
    if dataset.format == "text":
        yield null, "null; expected text"
    if dataset.format == "csv" and one and not options.get("nullvalue"):
        yield null, "null in the only column, an empty line that readers leave out; expected another column too"
    if dataset.format == "text" or (dataset.format == "csv" and options.get("multiline") != "true"):
        for name in names:
            if frame.schema[name].dataType.typeName() in ("string", "varchar", "char"):
                hint = "" if dataset.format == "text" else ", or options={'multiLine': True}"
                breaks = frame[quoted(name)].rlike(_LINE_BREAK)
                yield breaks, f"a line break in column {name!r}; expected text of one line{hint}"
