"""Counts of what ran, against what is known to be in the lake: 48 hours of one file with two rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

from airflow_partitions.core.errors import ResultError
from airflow_partitions.spark.proof import ObservedScan, normalise_path, recording
from tests.spark.in_process import is_warm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.warm]

DAY = (24, 24, 24, 48)


@pytest.fixture
def flights(spark: SparkSession, lake: Any) -> DataFrame:
    frame = lake.handover().inputs["flights"].read(spark)
    frame.createOrReplaceTempView("flights")
    return frame


def counts(spark: SparkSession, action: Callable[[], Any]) -> list[tuple[int, int, int, int]]:
    return reads_of(spark, action)[0]


def reads_of(spark: SparkSession, action: Callable[[], Any]) -> tuple[list[tuple[int, int, int, int]], list[str]]:
    """What is counted of an *action*, and what is said to be left out."""
    with recording(spark) as proof:
        before = Counter(map(shown, proof.scans()))  # by a server: it counts from the beginning of the session
        action()
        return sorted((Counter(map(shown, proof.scans())) - before).elements()), list(proof.unseen())


def shown(scan: ObservedScan) -> tuple[int, int, int, int]:
    assert scan.bytes > 0
    return len(scan.locations), scan.partitions, scan.files, scan.rows


def test_count(spark: SparkSession, flights: DataFrame) -> None:
    assert counts(spark, flights.count) == [DAY]


def test_write(spark: SparkSession, flights: DataFrame, tmp_path: Any) -> None:
    with recording(spark) as proof:
        flights.where("origin = 'EWR'").write.parquet(str(tmp_path / "out"))
        (scan,) = proof.scans()
        assert shown(scan)[:3] == (24, 24, 24)


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
        scans = counts(spark, flights.groupBy("origin").sum("delay").join(none, "origin").collect)
    finally:
        spark.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    # How many rows the cancelled side had read by then is a matter of luck.
    assert [one[:3] for one in scans] == [DAY[:3], DAY[:3]]


def test_reused_exchange(spark: SparkSession, flights: DataFrame) -> None:
    total = flights.groupBy("origin").sum("delay")
    assert counts(spark, total.union(total).collect) == [DAY]


def test_a_query_that_spark_does_not_understand_has_read_nothing(spark: SparkSession, flights: DataFrame) -> None:
    with recording(spark) as proof:
        with pytest.raises(AnalysisException, match="delya"):
            flights.select("delya").collect()
        assert proof.scans() == []


def test_failed_queries_count(spark: SparkSession, flights: DataFrame) -> None:
    def action() -> None:
        with pytest.raises(Exception, match="boom"):
            flights.selectExpr("raise_error('boom')").collect()

    (scan,) = counts(spark, action)
    assert scan[:3] == (24, 24, 24)


def test_pruned_reads_count_what_is_left(spark: SparkSession, flights: DataFrame) -> None:
    assert counts(spark, flights.where("hour = '2013-01-02T05:00-0500'").count) == [(1, 1, 1, 2)]


def test_reading_the_root_shows_every_folder(spark: SparkSession, lake: Any) -> None:
    assert counts(spark, lambda: spark.read.parquet(lake.flights.path).count()) == [(48, 48, 48, 96)]


def test_the_root_of_which_one_folder_is_left_shows_that_folder(spark: SparkSession, lake: Any) -> None:
    with recording(spark) as proof:
        spark.read.parquet(lake.flights.path).where("hour = '2013-01-02T05:00-0500'").count()
        (scan,) = proof.scans()
    assert [location.rpartition("/")[2] for location in scan.locations] == ["hour=2013-01-02T05%3A00-0500"]
    assert shown(scan) == (1, 1, 1, 2)


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


def test_python_udfs_count_as_any_query(spark: SparkSession, flights: DataFrame, tmp_path: Any) -> None:
    from pyspark.sql.functions import udf

    late = udf(lambda delay: delay > 2, "boolean")
    assert reads_of(spark, flights.where(late("delay")).select(late("delay")).collect) == ([DAY], [])
    flights.where(late("delay")).write.parquet(str(tmp_path / "out"))
    same = flights.mapInArrow(lambda batches: batches, flights.schema)
    assert reads_of(spark, same.toArrow) == ([DAY], [])


def test_checkpoints_are_read_once(spark: SparkSession, flights: DataFrame) -> None:
    def action() -> None:
        kept = flights.localCheckpoint()
        kept.count()
        kept.collect()

    assert reads_of(spark, action) == ([DAY], [])


def test_the_same_frame_twice(spark: SparkSession, flights: DataFrame) -> None:
    frames = {
        "plain": (flights.select("delay"), 2),
        # A client of Spark Connect sends the plan each time.
        "shuffled once": (flights.groupBy("origin").sum("delay"), 2 if is_warm(spark) else 1),
        "with a subquery": (
            spark.sql("select * from flights where delay >= (select min(delay) from flights)"),
            4 if is_warm(spark) else 3,
        ),
    }
    try:
        for adaptive in ("true", "false"):
            spark.conf.set("spark.sql.adaptive.enabled", adaptive)
            for what, (frame, scans) in frames.items():
                again = frame.select("*")  # planned for this setting
                counted, uncounted = reads_of(spark, lambda frame=again: (frame.collect(), frame.collect()))  # type: ignore[misc]
                assert (counted, uncounted) == ([DAY] * scans, []), (what, adaptive)
    finally:
        spark.conf.unset("spark.sql.adaptive.enabled")


@pytest.mark.cold
def test_iterating_is_told(spark: SparkSession, flights: DataFrame) -> None:
    counted, uncounted = reads_of(spark, lambda: list(flights.toLocalIterator()))
    assert counted == []
    assert uncounted
    assert all(one.partition(", ")[2].startswith("toLocalIterator at ") for one in uncounted)


@pytest.mark.cold
def test_actions_of_rdds_are_told(spark: SparkSession, lake: Any, flights: DataFrame) -> None:
    counted, uncounted = reads_of(spark, flights.rdd.count)
    assert counted == []
    assert len(uncounted) == 1
    assert re.fullmatch(r"job \d+, count at .*: 48 rows", uncounted[0])
    (lake.root / "note.txt").write_text("a\nb\n")
    _, uncounted = reads_of(spark, spark.sparkContext.textFile(str(lake.root / "note.txt")).collect)
    assert [one.rpartition(": ")[2] for one in uncounted] == ["2 rows"]
    assert reads_of(spark, lambda: flights.foreach(lambda row: None))[1]


@pytest.mark.cold
def test_frames_of_rdds_are_told(spark: SparkSession, lake: Any, flights: DataFrame, tmp_path: Any) -> None:
    schema = "origin string, delay double, hour string"
    frame = spark.createDataFrame(flights.rdd.filter(lambda row: row.delay > 2), schema)
    assert reads_of(spark, lambda: frame.write.parquet(str(tmp_path / "out"))) == ([], ["FileScanRDD"])
    (lake.root / "note.txt").write_text("a\nb\n")
    lines = spark.sparkContext.textFile(str(lake.root / "note.txt")).map(lambda line: (line,))
    counted, uncounted = reads_of(spark, lambda: flights.crossJoin(spark.createDataFrame(lines, "line string")).count())
    assert counted == [DAY]
    assert uncounted == [f"HadoopRDD {lake.root}/note.txt"]


@pytest.mark.cold
def test_rdds_of_what_the_driver_has_are_no_reads(spark: SparkSession, flights: DataFrame) -> None:
    import pandas as pd

    assert reads_of(spark, spark.sparkContext.parallelize([1, 2]).count) == ([], [])
    for frame in (
        spark.createDataFrame([(1,)], "n int"),
        spark.createDataFrame([], "n int"),
        spark.createDataFrame(pd.DataFrame({"n": [1]})),
        spark.range(5),
    ):
        assert reads_of(spark, frame.crossJoin(flights).count)[1] == []


@pytest.mark.cold
def test_jobs_that_spark_has_forgotten_are_told(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.spark.proof.uncounted_reads import Jobs

    jobs = Jobs(spark)
    jobs.begin()
    for _ in range(3):
        spark.range(2).count()
    newest = list(jobs._newest())
    monkeypatch.setattr(Jobs, "_newest", lambda _: iter(newest[:1]))
    assert jobs.reading() == [f"{newest[0].jobId() - jobs._first} jobs beyond spark.ui.retainedJobs"]


def test_nothing_before_or_after_counts(spark: SparkSession, flights: DataFrame) -> None:
    flights.count()
    assert counts(spark, lambda: None) == []
    flights.count()
    assert counts(spark, flights.count) == [DAY]


@pytest.mark.cold
def test_a_broken_look_is_not_proof(spark: SparkSession, flights: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    from airflow_partitions.spark.proof.classic import ClassicProof

    def broken(*_: Any) -> None:
        raise ValueError("unknown node")

    monkeypatch.setattr(ClassicProof, "_walk", broken)
    with recording(spark) as proof:
        flights.count()
        with pytest.raises(ResultError, match="could not be looked at: unknown node"):
            proof.scans()


def test_scans_of_inputs_that_overlap_go_to_the_right_one() -> None:
    from airflow_partitions.spark.running_job import attribute

    day, week = ["/lake/d1"], [f"/lake/d{number}" for number in range(1, 8)]
    places = {"week": dict(zip(week, week, strict=True)), "day": dict(zip(day, day, strict=True))}

    def scan(paths: list[str], locations: list[str]) -> ObservedScan:
        return ObservedScan(frozenset(paths), len(paths), len(paths), 10, 2, frozenset(locations))

    scans = [scan(week, week), scan(day, week), scan(day, day), scan(["/lake/d9"], ["/lake/d9"])]
    reads, others = attribute(scans, places)
    assert [(reads[name].scans, reads[name].partitions, reads[name].rows) for name in places] == [(2, 7, 4), (1, 1, 2)]
    assert others == ("/lake/d9",)


def test_places_have_one_spelling() -> None:
    assert normalise_path("file:/a/b") == normalise_path("file:///a/b") == normalise_path("/a/b") == "/a/b"
    assert normalise_path("s3a://bucket/a") == "s3a://bucket/a"
