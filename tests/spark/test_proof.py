"""Counts of what ran, against what is known to be in the lake: 48 hours of one file with two rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from airflow_partitions.errors import ResultError
from airflow_partitions.spark.proof import Scan, place, recording
from airflow_partitions.spark.reading import read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

DAY = (24, 24, 24, 48)


@pytest.fixture
def flights(spark: SparkSession, lake: Any) -> DataFrame:
    frame = read(spark, lake.handover().inputs["flights"])
    frame.createOrReplaceTempView("flights")
    return frame


def counts(spark: SparkSession, action: Callable[[], Any]) -> list[tuple[int, int, int, int]]:
    with recording(spark) as proof:
        action()
        return sorted(shown(scan) for scan in proof.scans())


def shown(scan: Scan) -> tuple[int, int, int, int]:
    assert scan.bytes > 0
    return len(scan.locations), scan.partitions, scan.files, scan.rows


def test_count(spark: SparkSession, flights: DataFrame) -> None:
    assert counts(spark, flights.count) == [DAY]


def test_write(spark: SparkSession, flights: DataFrame, tmp_path: Any) -> None:
    with recording(spark) as proof:
        flights.where("origin = 'EWR'").write.parquet(str(tmp_path / "out"))
        (scan,) = proof.scans()
        assert shown(scan)[:3] == (24, 24, 24)
        assert proof.rows_written(str(tmp_path / "out")) == 24
        assert proof.rows_written(str(tmp_path / "elsewhere")) == 0


def test_two_actions_are_two_scans(spark: SparkSession, flights: DataFrame) -> None:
    assert counts(spark, lambda: (flights.count(), flights.collect())) == [DAY, DAY]


def test_a_cached_frame_is_read_once(spark: SparkSession, flights: DataFrame) -> None:
    def action() -> None:
        cached = flights.where("delay >= 0").cache()
        cached.count()
        cached.groupBy("origin").count().collect()
        cached.unpersist()

    assert counts(spark, action) == [DAY]


def test_writing_from_a_cached_frame(spark: SparkSession, flights: DataFrame, tmp_path: Any) -> None:
    def action() -> None:
        cached = flights.select("delay").cache()
        cached.write.parquet(str(tmp_path / "out"))
        cached.unpersist()

    assert counts(spark, action) == [DAY]


def test_subqueries(spark: SparkSession, flights: DataFrame) -> None:
    query = "select * from flights where delay >= (select min(delay) from flights)"
    assert counts(spark, spark.sql(query).collect) == [DAY, DAY]


def test_joins_adaptive_and_not(spark: SparkSession, flights: DataFrame) -> None:
    day, hour = flights, flights.where("hour = '2013-01-02T05:00-0500'").withColumnRenamed("delay", "other")
    try:
        for adaptive in ("true", "false"):
            spark.conf.set("spark.sql.adaptive.enabled", adaptive)
            assert counts(spark, day.join(hour, "origin").count) == [(1, 1, 1, 2), DAY]
    finally:
        spark.conf.unset("spark.sql.adaptive.enabled")


def test_what_a_new_plan_left_out(spark: SparkSession, flights: DataFrame) -> None:
    """One side turns out empty, so the finished plan no longer holds the stage that read the other side."""
    none = flights.where("delay < -1").groupBy("origin").count()
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    try:
        found = counts(spark, flights.groupBy("origin").sum("delay").join(none, "origin").collect)
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    # How many rows the cancelled side had read by then is a matter of luck.
    assert [one[:3] for one in found] == [DAY[:3], DAY[:3]]


def test_reused_exchange(spark: SparkSession, flights: DataFrame) -> None:
    total = flights.groupBy("origin").sum("delay")
    assert counts(spark, total.union(total).collect) == [DAY]


def test_failed_queries_count(spark: SparkSession, flights: DataFrame) -> None:
    def action() -> None:
        with pytest.raises(Exception, match="boom"):
            flights.selectExpr("raise_error('boom')").collect()

    (found,) = counts(spark, action)
    assert found[:3] == (24, 24, 24)


def test_pruned_reads_count_what_is_left(spark: SparkSession, flights: DataFrame) -> None:
    assert counts(spark, flights.where("hour = '2013-01-02T05:00-0500'").count) == [(1, 1, 1, 2)]


def test_reading_the_root_shows_every_folder(spark: SparkSession, lake: Any) -> None:
    assert counts(spark, lambda: spark.read.parquet(lake.flights.path).count()) == [(48, 48, 48, 96)]


def test_other_formats_count(spark: SparkSession, lake: Any) -> None:
    (lake.root / "note.txt").write_text("a\nb\n")
    (lake.root / "note.csv").write_text("a\nb\n")
    assert counts(spark, lambda: spark.read.text(str(lake.root / "note.txt")).count()) == [(1, 1, 1, 2)]
    assert (1, 1, 1, 2) in counts(spark, lambda: spark.read.csv(str(lake.root / "note.csv")).collect())


def test_data_source_v2_has_a_location(spark: SparkSession, lake: Any) -> None:
    spark.conf.set("spark.sql.sources.useV1SourceList", "")
    try:
        with recording(spark) as proof:
            spark.read.parquet(lake.flights.path).count()
            (scan,) = proof.scans()
    finally:
        spark.conf.unset("spark.sql.sources.useV1SourceList")
    assert lake.flights.path in "".join(scan.locations)


def test_nothing_before_or_after_counts(spark: SparkSession, flights: DataFrame) -> None:
    flights.count()
    assert counts(spark, lambda: None) == []
    flights.count()
    assert counts(spark, flights.count) == [DAY]


def test_a_broken_look_is_not_proof(spark: SparkSession, flights: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.spark.proof import Proof

    def broken(*_: Any) -> None:
        raise ValueError("unknown node")

    monkeypatch.setattr(Proof, "_walk", broken)
    with recording(spark) as proof:
        flights.count()
        with pytest.raises(ResultError, match="could not be looked at: unknown node"):
            proof.scans()


def test_places_have_one_spelling() -> None:
    assert place("file:/a/b") == place("file:///a/b") == place("/a/b") == "/a/b"
    assert place("s3a://bucket/a") == "s3a://bucket/a"
