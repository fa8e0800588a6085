"""Frames of Spark of a test's own rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def spark_rows(spark: SparkSession, rows: Sequence[tuple[Any, ...]], columns: str) -> DataFrame:
    """A frame of *rows*, handed over as Arrow: for those of Python, Spark starts a Python for each test.

    :param columns: names and types, as in a statement that makes a table.
    """
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    schema = StructType.fromDDL(columns)
    fields = to_arrow_schema(schema)
    named = [dict(zip(fields.names, row, strict=True)) for row in rows]
    return spark.createDataFrame(pa.Table.from_pylist(named, schema=fields), schema)
