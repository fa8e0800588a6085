"""The columns and the shape in which a DataFrame of Spark is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from airflow_partitions.core.errors import ResultError, WriterError
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.shape import Shape
from airflow_partitions.storage.io.spark_reader import quoted
from airflow_partitions.storage.layout.column import Column

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame


def types_of(frame: DataFrame) -> dict[str, str]:
    """Column to Spark type."""
    return {field.name: field.dataType.simpleString() for field in frame.schema.fields}


def fitted(frame: DataFrame, dataset: Dataset, behind: Sequence[str] = ()) -> DataFrame:
    """*frame* with its columns in the declared order, which is all that CSV files are read by.

    A declared column that it lacks is null in them.

    :param behind: columns that come after the others.
    :raises WriterError: if CSV files would hold columns more than those declared.
    """
    from pyspark.sql import functions as f

    declared = dict(dataset.schema or ())
    others = [name for name in frame.columns if name not in declared and name not in behind]
    columns = [frame[quoted(name)] for name in declared if name in frame.columns]
    if dataset.format == "csv" and declared:
        if others:
            raise WriterError(
                f"{dataset.path!r}: csv files are read by the order of columns, and {others} are not declared; expected"
                f" {list(declared)}: declare them behind these, or use another format"
            )
        null = f.lit(None)
        columns = [
            frame[quoted(name)] if name in frame.columns else null.cast(kind).alias(name)
            for name, kind in declared.items()
        ]
    return frame.select(*columns, *(frame[quoted(name)] for name in (*others, *behind)))


def with_directory_columns(frame: DataFrame, dataset: Dataset) -> DataFrame:
    """*frame* with the text of its partition columns behind the others, under the names of the layout.

    :raises ResultError: if it lacks one.
    """
    from pyspark.sql import functions as f

    names = {name.lower(): name for name in frame.columns}
    columns = dataset.layout.columns
    if missing := [name for name in columns if name.lower() not in names]:
        raise ResultError(
            f"the DataFrame has no column {', '.join(map(repr, missing))}; expected the partition columns of"
            f" {dataset.path!r}: {', '.join(columns)}"
        )
    texts = {name: _text(f.col(quoted(names[name.lower()])), column) for name, column in columns.items()}
    others = [f.col(quoted(name)) for name in frame.columns if name.lower() not in {c.lower() for c in columns}]
    return frame.select(*others, *(text.alias(name) for name, text in texts.items()))


def _text(value: SparkColumn, column: Column) -> SparkColumn:
    from pyspark.sql import functions as f

    text = value.cast(column.type).cast("string")
    return f.lpad(text, column.digits, "0") if column.digits else text


def shaped(frame: DataFrame, dataset: Dataset, shape: Shape) -> DataFrame:
    """*frame* with its rows where the files of *shape* need them."""
    from pyspark.sql import functions as f

    keys = [f.col(quoted(name)) for name in dataset.layout.columns]
    if shape.bucket_by:
        bucket = f.pmod(f.hash(*(f.col(quoted(name)) for name in shape.bucket_by)), f.lit(shape.buckets))
        frame = frame.repartitionById(shape.buckets, bucket.cast("int"))
    elif shape.shuffle:
        frame = frame.repartition(*keys)
    # Spark sorts by the partition columns itself, unless the rows come sorted so.
    return frame.sortWithinPartitions(*keys, *(f.col(quoted(n)) for n in shape.sort_by)) if shape.sort_by else frame
