"""Every format, written in every way, is read back in every way as the same rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from airflow_partitions import Partition, PartitionBySequence
from airflow_partitions.spark import job
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.result import Result
from airflow_partitions.spark.write_many import write_many
from airflow_partitions.storage import Attempt, Avro, Csv, Files, Json, Orc, Parquet, Text
from airflow_partitions.storage.commit.publish import publish
from airflow_partitions.storage.commit.staging import open_staging
from airflow_partitions.storage.metadata.arrow_types import arrow_type, fits

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

Rows = list[tuple[Any, ...]]

LETTERS = PartitionBySequence(["a", "b"], name="letter")
SCHEMA = {
    "carrier": "string",
    "gate": "int",
    "distance": "bigint",
    "delay": "double",
    "late": "boolean",
    "day": "date",
    "at": "timestamp",
    "fare": "decimal(10,2)",
}
AT = dt.datetime(2013, 2, 8, 9, 30, 1, 123456, dt.UTC)
ROWS: Rows = [
    ("AA", 1, 2**40, 1.5, True, dt.date(2013, 2, 8), AT, Decimal("99.50")),
    (' "é", ;\\\' x\\', -1, 0, -0.25, False, dt.date(1969, 12, 31), AT.replace(microsecond=0), Decimal("-0.01")),
    ("", None, None, None, None, None, None, None),
    (None,) * 8,
]
LINES: Rows = [("AA,1",), ("",), (' "é" \\ ',)]
#: Format and options to the columns and the rows.
FORMATS: Mapping[str, tuple[type[Files], Mapping[str, Any]]] = {
    "parquet": (Parquet, {}),
    "parquet zstd": (Parquet, {"compression": "zstd"}),
    "csv": (Csv, {}),
    "csv options": (Csv, {"sep": ";", "header": True, "compression": "gzip"}),
    "json": (Json, {}),
    "json bzip2": (Json, {"compression": "bzip2"}),
    "orc": (Orc, {}),
    "orc zlib": (Orc, {"compression": "zlib"}),
    "avro": (Avro, {}),
    "avro deflate": (Avro, {"compression": "deflate"}),
    "text": (Text, {}),
    "text gzip": (Text, {"compression": "gzip"}),
}


def dataset(name: str, folder: Path, spark: SparkSession) -> tuple[Files, Rows]:
    kind, options = FORMATS[name]
    if kind is Avro and not knows_avro(spark):
        pytest.skip("Spark runs without its package for Avro: it was started before these tests")
    schema, rows = ({"value": "string"}, LINES) if kind is Text else (SCHEMA, ROWS)
    if kind is Orc:  # Spark can't read times that Arrow writes there
        number = list(SCHEMA).index("at")
        schema = {name: type_ for name, type_ in SCHEMA.items() if name != "at"}
        rows = [row[:number] + row[number + 1 :] for row in ROWS]
    return kind(str(folder / "lake"), partition=LETTERS, schema=schema, options=options), rows


def knows_avro(spark: SparkSession) -> bool:
    from py4j.protocol import Py4JJavaError

    loader: Any = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()  # type: ignore[union-attr]
    try:
        loader.loadClass("org.apache.spark.sql.avro.AvroFileFormat")
    except Py4JJavaError:
        return False
    return True


def spark_frame(spark: SparkSession, files: Files, rows: Rows) -> DataFrame:
    frame = spark.createDataFrame(rows, ", ".join(f"{name} {kind}" for name, kind in files.schema or ()))
    return frame.coalesce(1)


def arrow_table(files: Files, rows: Rows) -> pa.Table:
    schema = pa.schema([(name, arrow_type(kind)) for name, kind in files.schema or ()])
    return pa.table([pa.array([row[i] for row in rows], field.type) for i, field in enumerate(schema)], schema=schema)


def by_asset(spark: SparkSession, files: Files, rows: Rows, key: str) -> None:
    """What the task, spark-submit and the driver do."""
    attempt, wrapped = Attempt("dag", f"run {key}", 1), LETTERS.parse(key)
    staging = open_staging(files, attempt, files.layout.directory_of(wrapped))
    handover = Handover(
        asset="x", attempt=attempt, partition=Partition(LETTERS, key), inputs={}, output=files, staging=staging
    )
    with job(Handover.from_text(handover.to_text()), spark) as current:
        current.write(spark_frame(spark, files, rows))
    publish(files, wrapped, attempt, staging, Result.load(staging, attempt.name).written)
    staging.remove()


def by_saving(make: Callable[[Files, Rows], Any]) -> Callable[[SparkSession, Files, Rows, str], None]:
    def save(spark: SparkSession, files: Files, rows: Rows, key: str) -> None:
        files.save({key: make(files, rows)})

    return save


def by_saving_spark(spark: SparkSession, files: Files, rows: Rows, key: str) -> None:
    files.save({key: spark_frame(spark, files, rows)})


def by_write_many(spark: SparkSession, files: Files, rows: Rows, key: str) -> None:
    from pyspark.sql import functions as f

    write_many(spark_frame(spark, files, rows).withColumn("letter", f.lit(key)), files)


WAYS: Mapping[str, Callable[[SparkSession, Files, Rows, str], None]] = {
    "asset": by_asset,
    "spark": by_saving_spark,
    "pandas": by_saving(lambda files, rows: arrow_table(files, rows).to_pandas()),
    "polars": by_saving(lambda files, rows: pl.from_arrow(arrow_table(files, rows))),
    "arrow": by_saving(arrow_table),
    "write_many": by_write_many,
}


def read(spark: SparkSession, files: Files, key: str, as_: str) -> Rows:
    """The rows as tuples; their types have to be those declared."""
    frame = files.read(key, as_, spark=spark, columns=[name for name, _ in files.schema or ()])
    if as_ == "pandas":
        return [tuple(None if pd.isna(value) else value for value in row) for row in frame.itertuples(index=False)]
    if as_ == "spark":
        assert frame.dtypes == list(files.schema or ())
    table = frame if as_ == "arrow" else frame.toArrow() if as_ == "spark" else frame.to_arrow()
    for name, kind in files.schema or ():
        assert fits(table.schema.field(name).type, arrow_type(kind)), (name, table.schema.field(name).type)
    return [tuple(row.values()) for row in table.to_pylist()]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FORMATS)
def test_what_is_written_is_read(spark: SparkSession, tmp_path: Path, name: str, way: str) -> None:
    files, rows = dataset(name, tmp_path, spark)
    WAYS[way](spark, files, rows, "a")
    if way != "write_many":  # of no rows it makes no partition
        WAYS[way](spark, files, [], "b")
    counts = {str(partition.key): partition.rows for partition in files.list()}
    assert counts == {"a": len(rows), "b": 0} if way != "write_many" else {"a": len(rows)}
    for partition in files.list():
        assert partition.metadata["schema"] == dict(files.schema or ())
        assert partition.files
    for as_ in ("spark", "arrow", "pandas", "polars"):
        assert sorted(read(spark, files, "a", as_), key=repr) == sorted(rows, key=repr), as_
        if "b" in counts:
            assert read(spark, files, "b", as_) == [], as_
