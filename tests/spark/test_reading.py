from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from airflow_partitions import Partition, PartitionByInterval, PartitionBySequence, Selection
from airflow_partitions.errors import MissingInputError, StorageError
from airflow_partitions.spark.inputs import Input
from airflow_partitions.spark.reading import read
from airflow_partitions.storage import Column, Parquet
from airflow_partitions.storage.escape import escape

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def day(lake: Any, text: str = "2013-01-02|EWR", **changes: Any) -> Input:
    storage = attrs.evolve(lake.flights, **changes)
    return Input.needed_by(Partition(lake.delays.partition, text), "flights", storage)


def test_exactly_the_promised_partitions(spark: SparkSession, lake: Any) -> None:
    frame = read(spark, day(lake))
    assert len(frame.inputFiles()) == 24
    assert {row.hour for row in frame.select("hour").collect()} == {f"2013-01-02T{h:02}:00-0500" for h in range(24)}


def test_declared_types(spark: SparkSession, lake: Any) -> None:
    assert read(spark, day(lake)).dtypes == [("origin", "string"), ("delay", "double"), ("hour", "string")]


def test_an_added_column_is_null_in_old_files(spark: SparkSession, lake: Any) -> None:
    frame = read(spark, day(lake, schema={"origin": "string", "gate": "int"}))
    assert [row.gate for row in frame.collect()] == [None] * 48


def test_without_a_schema_it_is_that_of_the_first_file(spark: SparkSession, lake: Any) -> None:
    frame = read(spark, day(lake, schema=None))
    assert frame.dtypes == [("origin", "string"), ("delay", "double"), ("hour", "string")]
    assert frame.count() == 48


def test_a_folder_without_files_has_no_schema(spark: SparkSession, lake: Any) -> None:
    source = day(lake, schema=None)
    first = Path(next(iter(source.folders)))
    shutil.rmtree(first)
    first.mkdir()
    with pytest.raises(StorageError, match="no schema in"):
        read(spark, source)


def test_no_partition_at_all(spark: SparkSession, lake: Any) -> None:
    nothing = Input("flights", lake.flights, Selection(lake.flights.partition))
    assert read(spark, nothing).collect() == []
    assert read(spark, nothing).columns == ["origin", "delay", "hour"]
    with pytest.raises(MissingInputError, match="so it has no schema"):
        read(spark, Input("flights", attrs.evolve(lake.flights, schema=None), nothing.selection))


def test_types_of_partition_columns_are_never_inferred(spark: SparkSession, tmp_path: Path) -> None:
    definition = PartitionBySequence(["01", "1e3", "2013-01-01", "a b=c/d%", "x'{[]}\\"], name="code")
    storage = Parquet(str(tmp_path), partition=definition, schema={"n": "bigint"})
    keys = tuple(definition.keys())
    for key in keys:
        spark.range(1).toDF("n").write.parquet(storage.path_of(key))
    selection = Selection(definition, tuple(box for key in keys for box in Selection.of(definition, key).boxes))
    frame = read(spark, Input("codes", storage, selection))
    assert sorted(row.code for row in frame.collect()) == sorted(map(str, keys))


def test_typed_partition_columns(spark: SparkSession, tmp_path: Path) -> None:
    definition = PartitionByInterval("@daily", start="2013-01-01", end="2013-01-03", name="date")
    columns = {"month": Column("%m", "int"), "d": Column("%Y-%m-%d", "date")}
    storage = Parquet(str(tmp_path), partition=definition, partition_on=columns, schema={"n": "bigint"})
    keys = tuple(definition.keys())
    for key in keys:
        spark.range(1).toDF("n").write.parquet(storage.path_of(key))
    frame = read(spark, Input("days", storage, Selection.between(definition, definition.start, definition.end)))
    assert frame.dtypes == [("n", "bigint"), ("month", "int"), ("d", "date")]
    assert sorted(str(row.d) for row in frame.collect()) == ["2013-01-01", "2013-01-02"]
    assert {row.month for row in frame.collect()} == {1}


def test_storage_without_partitions_is_read_whole(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).toDF("n").write.parquet(str(tmp_path / "airports"))
    source = Input("airports", Parquet(str(tmp_path / "airports"), external=True), None)
    assert read(spark, source).count() == 3


def test_the_session_keeps_its_settings(spark: SparkSession, lake: Any) -> None:
    name = "spark.sql.sources.parallelPartitionDiscovery.threshold"
    before = spark.conf.get(name)
    read(spark, day(lake))
    assert spark.conf.get(name) == before


def test_names_are_escaped_as_spark_does(spark: SparkSession) -> None:
    spark_escape = spark._jvm.org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils.escapePathName
    text = "".join(chr(c) for c in range(1, 0x180)) + "é|ß€"
    assert escape(text) == spark_escape(text)
