"""Rows of a Spark DataFrame whose partition has a name too long for a folder: they end the write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from airflow_partitions.core.errors import ForeignRowsError
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.row_guard import guarded, guarded_row
from airflow_partitions.storage.io.spark_reader import quoted
from airflow_partitions.storage.layout.escape import LONGEST_ESCAPE, LONGEST_NAME, UNSAFE, escape

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_MARK = "a row of a partition without a name: "
_SHOWN = 60


@contextmanager
def nameable_rows(frame: DataFrame, dataset: Dataset) -> Iterator[DataFrame]:
    """*frame*, with the text of its partition columns, to be written inside the block.

    :raises ForeignRowsError: if a row names a partition whose folder no file system could have.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as f

    lengths = {name: _length(name) for name, column in dataset.layout.columns.items() if column.type == "string"}
    if lengths:
        too_long = reduce(or_, (_may_be_too_long(name) & (length > LONGEST_NAME) for name, length in lengths.items()))
        shown = f.coalesce(*(f.when(length > LONGEST_NAME, _shown(name, length)) for name, length in lengths.items()))
        own = next(name for name in frame.columns if name not in dataset.layout.columns)
        frame = guarded(frame, own, too_long, _MARK, shown)
    try:
        yield frame
    except PySparkException as error:
        if (row := guarded_row(error, _MARK)) is None:
            raise
        raise ForeignRowsError(
            f"some rows belong to {row}, so it can be no partition of {dataset.path!r}; expected at most"
            f" {LONGEST_NAME} bytes: use shorter values, or filter these rows"
        ) from error


def _length(name: str) -> Column:
    """The bytes of the name of the folder for a row's value."""
    from pyspark.sql import functions as f

    longest = "%" * LONGEST_ESCAPE
    return f.octet_length(f.regexp_replace(f.col(quoted(name)), UNSAFE, longest)) + len(f"{escape(name)}=".encode())


def _may_be_too_long(name: str) -> Column:
    """A quick look that is right for nearly all rows."""
    from pyspark.sql import functions as f

    return f.octet_length(f.col(quoted(name))) * LONGEST_ESCAPE + len(f"{escape(name)}=".encode()) > LONGEST_NAME


def _shown(name: str, length: Column) -> Column:
    from pyspark.sql import functions as f

    start = f.substring(f.col(quoted(name)), 1, _SHOWN)
    return f.concat(f.lit(f"'{name}="), start, f.lit("…', whose name has "), length.cast("string"), f.lit(" bytes"))
