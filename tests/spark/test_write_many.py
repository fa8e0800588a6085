"""What write_many refuses, and what it leaves then."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from airflow_partitions import PartitionAtRuntime, PartitionBySequence
from airflow_partitions.core.errors import ForeignRowsError, InvalidDefinitionError, ResultError, SchemaError
from airflow_partitions.storage import Column, Parquet, field, write_many
from airflow_partitions.storage.layout.escape import escape
from airflow_partitions.storage.scan.snapshot import inventory
from tests.spark_rows import spark_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.warm]

AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")


@pytest.fixture
def files(tmp_path: Path) -> Parquet:
    return Parquet(str(tmp_path / "lake"), partition=AIRPORTS)


def file_names(files: Parquet) -> list[str]:
    root = Path(files.path)
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())


def rows(spark: SparkSession, *airports: str | None) -> Any:
    return spark_rows(spark, [(airport, 1) for airport in airports], "airport string, n int")


@pytest.mark.parametrize("airport", ["LGA", None, ""])
def test_rows_of_no_partition(spark: SparkSession, files: Parquet, airport: str | None) -> None:
    with pytest.raises(ForeignRowsError, match=r"some rows belong to 'airport=.*expected rows of its partitions only"):
        write_many(rows(spark, "EWR", airport), files)
    assert file_names(files) == []


@pytest.mark.parametrize("value", ["x" * 300, "é" * 124, '"' * 83])
def test_es15_a_value_longer_than_the_name_of_a_folder_may_be(spark: SparkSession, tmp_path: Path, value: str) -> None:
    size = len(escape(f"{value}").encode()) + len("airport=")
    for definition in (AIRPORTS, PartitionAtRuntime("airport")):
        files = Parquet(str(tmp_path / "lake"), partition=definition)
        with pytest.raises(ForeignRowsError) as error:
            write_many(rows(spark, "EWR", value), files)
        assert str(error.value) == (
            f"some rows belong to 'airport={value[:60]}…', whose name has {size} bytes, so it can be no partition of"
            f" {files.path!r}; expected at most 255 bytes: use shorter values, or filter these rows"
        )
        assert file_names(files) == []


def test_es15_a_value_just_as_long_as_the_name_of_a_folder_may_be(spark: SparkSession, tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "lake"), partition=PartitionAtRuntime("airport"))
    value = '"' * 82 + "x"  # with the name of the column and the escapes 255 bytes
    assert write_many(rows(spark, "EWR", value), files).keys() == {"EWR", value}
    assert files.read(value, as_="pandas")["n"].tolist() == [1]


def test_frames_that_can_not_be_written(spark: SparkSession, files: Parquet) -> None:
    with pytest.raises(ResultError, match=r"has no column 'airport'; expected the partition columns"):
        write_many(spark.range(1), files)
    with pytest.raises(ResultError, match="only partition columns"):
        write_many(rows(spark, "EWR").select("airport"), files)
    with pytest.raises(ResultError, match="got NoneType; expected a frame of pandas, polars, Arrow or Spark"):
        write_many(None, files)  # type: ignore[arg-type]
    with pytest.raises(ResultError, match="streaming DataFrame"):
        write_many(spark.readStream.format("rate").load(), files)
    with pytest.raises(InvalidDefinitionError, match="expected both or none"):
        write_many(rows(spark, "EWR"), files, buckets=3)
    with pytest.raises(InvalidDefinitionError, match=r"lake': index='x' is no column of it; .* nearest: n"):
        write_many(rows(spark, "EWR"), attrs.evolve(files, index=["x"]))
    assert file_names(files) == []


def test_no_rows_make_no_partition(spark: SparkSession, files: Parquet) -> None:
    assert write_many(rows(spark, "EWR").where("false"), files) == {}
    assert file_names(files) == []


def test_names_of_columns_are_those_of_the_layout(spark: SparkSession, files: Parquet) -> None:
    frame = rows(spark, "EWR", "JFK", "EWR").withColumnRenamed("airport", "AirPort")
    published = write_many(frame, files, user={"by": "test"})
    assert {key: metadata.rows for key, metadata in published.items()} == {"EWR": 2, "JFK": 1}
    assert all(metadata.user == {"by": "test"} for metadata in published.values())
    assert [p.directory for p in inventory(files)] == ["airport=EWR", "airport=JFK"]


def test_declared_columns_are_checked(spark: SparkSession, tmp_path: Path) -> None:
    files = Parquet(str(tmp_path / "lake"), partition=AIRPORTS, schema={"n": "bigint"})
    with pytest.raises(SchemaError, match="'n' is int, not bigint"):
        write_many(rows(spark, "EWR"), files)
    assert file_names(files) == []


def test_a_number_that_is_no_key(spark: SparkSession, tmp_path: Path) -> None:
    months = PartitionBySequence([1, 2], name="month")
    files = Parquet(str(tmp_path), partition=months, partition_on={"month": Column("{month}", "int")})
    assert list(write_many(spark_rows(spark, [(1, 1)], "month int, n int"), files)) == ["1"]
    with pytest.raises(ForeignRowsError, match="month=3"):
        write_many(spark_rows(spark, [(3, 1)], "month int, n int"), files)


def test_es_times_are_found_by_their_index(spark: SparkSession, files: Parquet) -> None:
    files = attrs.evolve(files, index=["at"])
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        frame = spark.createDataFrame(
            [("EWR", datetime(2013, 11, 3, hour, 30, tzinfo=UTC)) for hour in range(8)], "airport string, at timestamp"
        )
        write_many(frame.repartition(8, "at"), files, shuffle=False)
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(zone))
    partition = files.get("EWR")
    assert partition is not None
    at = datetime(2013, 11, 3, 5, 30, tzinfo=UTC)  # 01:30 in New York, for the first time
    microseconds = str(int(at.timestamp()) * 1_000_000)
    (name,) = partition.metadata["index"]["at"]["files"][microseconds]
    assert len(partition.files) > 1
    one = files.read((field("airport") == "EWR") & (field("at") == at), spark=spark)
    assert [Path(path).name for path in one.inputFiles()] == [name]
    assert one.count() == 1
