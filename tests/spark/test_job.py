"""A job in process: what it writes, refuses and reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from airflow_partitions import Partition, PartitionByInterval
from airflow_partitions.core.errors import (
    ForeignRowsError,
    MissingInputError,
    ResultError,
    UnpromisedReadError,
)
from airflow_partitions.spark import job
from airflow_partitions.spark.job_result import JobResult, load_error
from airflow_partitions.storage import Column, Parquet
from airflow_partitions.storage.metadata.staged_files import readable_files
from tests.spark.in_process import good, is_warm, make

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.warm]


def test_end_to_end(spark: SparkSession, lake: Any) -> None:
    result = make(spark, lake, good, lake.handover(strict=True))
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
    assert result.written.schema == {"origin": "string", "most": "double"}
    summary = result.summary()
    assert (summary["rows"], summary["files"]) == (1, 1)
    reads = summary["reads"]["flights"]
    assert (reads["selected"], reads["partitions"], reads["files"], reads["rows"]) == (24, 24, 24, 48)
    assert json.dumps(summary)


def test_a_rerun_replaces_only_its_own(spark: SparkSession, lake: Any) -> None:
    make(spark, lake, good, lake.handover("2013-01-02|JFK"))
    make(spark, lake, good)
    make(spark, lake, good, lake.handover(number=2))
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
    assert lake.rows("2013-01-02|JFK") == [{"origin": "JFK", "most": 2.0}]


def learned(flights: Any) -> Any:
    import sklearnt  # type: ignore[import-not-found]

    return sklearnt.fit(flights)


def test_a_library_that_the_driver_lacks_is_named(spark: SparkSession, lake: Any) -> None:
    handover = lake.handover()
    with pytest.raises(ResultError, match="has no module 'sklearnt'; expected it to be installed there, or to come"):
        make(spark, lake, learned, handover)
    assert isinstance(load_error(handover.staging), ResultError)


def empty(flights: Any) -> Any:
    return flights.where("delay < -1")


def empty_after_shuffle(flights: Any) -> Any:
    return flights.where("delay < -1").repartition(4).groupBy("origin").count()


def empty_list(spark: Any) -> Any:
    return spark.createDataFrame([], "origin string, airport string")


@pytest.mark.parametrize("function", [empty, empty_after_shuffle, empty_list])
def test_an_empty_result_is_one_file_without_rows(spark: SparkSession, lake: Any, function: Any) -> None:
    make(spark, lake, good)
    result = make(spark, lake, function, lake.handover(number=2))
    assert (result.written.rows, len(result.written.files)) == (0, 1)
    assert lake.rows() == []
    back = spark.read.parquet(lake.delays.path_of(lake.delays.partition.parse("2013-01-02|EWR")))
    assert back.columns[0] == "origin"


def with_partition_columns(flights: Any) -> Any:
    return flights.selectExpr("delay", "date'2013-01-02' as DATE", "'EWR' as airport")


def test_partition_columns_are_left_out_of_the_files(spark: SparkSession, lake: Any) -> None:
    assert make(spark, lake, with_partition_columns).written.schema == {"delay": "double"}
    assert len(lake.rows()) == 48


def foreign(flights: Any) -> Any:
    return flights.selectExpr("delay", "origin as airport")


def foreign_null(flights: Any) -> Any:
    return flights.selectExpr("delay", "nullif(origin, 'JFK') as airport")


def foreign_date(flights: Any) -> Any:
    return flights.selectExpr("delay", "to_date(substr(hour, 1, 10)) + int(delay = 2) as date")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (foreign, r"rows belong elsewhere, for example airport=JFK; expected only rows whose airport is"),
        (foreign_null, r"rows belong elsewhere, for example airport=null"),
        (foreign_date, r"rows belong elsewhere, for example date=2013-01-03"),
    ],
)
def test_rows_of_another_partition_fail_the_run(spark: SparkSession, lake: Any, function: Any, words: str) -> None:
    make(spark, lake, good)
    handover = lake.handover(number=2)
    with pytest.raises(ForeignRowsError, match=words):
        make(spark, lake, function, handover)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
    assert not handover.staging.result.exists()
    error = load_error(handover.staging)
    assert isinstance(error, ForeignRowsError)


def test_typed_columns_are_compared_as_their_type(spark: SparkSession, lake: Any) -> None:
    month = PartitionByInterval("@monthly", timezone="America/New_York", start="2013-01-01", name="month")
    output = Parquet(str(lake.root / "m"), partition_on={"y": Column("%Y", "int"), "m": Column("%m", "int")}).of(month)
    handover = lake.handover(output=output, partition=Partition(month, "2013-01-01"), inputs={})
    assert make(spark, lake, as_numbers, handover).written.rows == 5
    handover = lake.handover(number=2, output=output, partition=Partition(month, "2013-02-01"), inputs={})
    with pytest.raises(ForeignRowsError, match="rows belong elsewhere, for example y=2013/m=1"):
        make(spark, lake, as_numbers, handover)


def as_numbers(spark: Any) -> Any:
    return spark.range(5).selectExpr("id", "2013 as y", "1L as m")


def returns_nothing(flights: Any) -> Any:
    return flights.count() and None


def returns_rows(flights: Any) -> Any:
    return flights.collect()


def returns_stream(spark: Any) -> Any:
    return spark.readStream.format("rate").load()


def returns_only_keys(flights: Any) -> Any:
    return flights.selectExpr("'EWR' as airport")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (returns_nothing, "got NoneType; expected a frame of pandas, polars, Arrow or Spark: return the frame"),
        (returns_rows, "got list; expected a frame of pandas, polars, Arrow or Spark"),
        (returns_stream, "got a streaming DataFrame"),
        (returns_only_keys, "only partition columns"),
    ],
)
def test_other_results_are_refused(spark: SparkSession, lake: Any, function: Any, words: str) -> None:
    with pytest.raises(ResultError, match=words):
        make(spark, lake, function)


def fails(flights: Any) -> Any:
    return flights.selectExpr("raise_error('boom') as x")


def test_a_failed_job_leaves_the_old_files(spark: SparkSession, lake: Any) -> None:
    make(spark, lake, good)
    handover = lake.handover(number=2)
    with pytest.raises(Exception, match="boom"):
        make(spark, lake, fails, handover)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
    with pytest.raises(ResultError, match="ended without a result file"):
        JobResult.load(handover.staging, handover.attempt.name)


def reads_more(spark: Any, flights: Any) -> Any:
    path = flights.inputFiles()[0].rsplit("/", 2)[0]
    return spark.read.parquet(path).where("hour like '2013-01-01T0%'").drop("hour")


def reads_more_unseen(spark: Any, flights: Any) -> Any:
    path = flights.inputFiles()[0].rsplit("/", 2)[0]
    spark.read.parquet(path).cache().count()
    return flights.select("delay")


@pytest.mark.parametrize(("function", "places"), [(reads_more, 10), (reads_more_unseen, 24)])
def test_strict_refuses_unpromised_reads(spark: SparkSession, lake: Any, function: Any, places: int) -> None:
    make(spark, lake, good)
    # A server names the first of them, before it reads any.
    words = "Nothing was read" if is_warm(spark) else f"read {places} places it was not promised: .*2013-01-01T00%3A00"
    with pytest.raises(UnpromisedReadError, match=words):
        make(spark, lake, function, lake.handover(number=2, strict=True))
    spark.catalog.clearCache()
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
    result = make(spark, lake, function, lake.handover(number=3))
    spark.catalog.clearCache()
    assert len(result.others) == places


def reads_promised_by_itself(spark: Any, flights: Any) -> Any:
    path = flights.inputFiles()[0].rsplit("/", 2)[0]
    return spark.read.parquet(path).where("hour like '2013-01-02%'").drop("hour")


def by_rdds(spark: Any, flights: Any) -> Any:
    return spark.createDataFrame(flights.rdd.map(lambda row: (row.delay,)), "delay double")


@pytest.mark.cold
def test_strict_refuses_what_it_can_not_see_and_else_the_event_says_so(spark: SparkSession, lake: Any) -> None:
    with pytest.raises(UnpromisedReadError, match="can't be compared with its inputs: FileScanRDD"):
        make(spark, lake, by_rdds, lake.handover(strict=True))
    summary = make(spark, lake, by_rdds, lake.handover(number=2)).summary()
    assert summary["unseen"] == ["FileScanRDD"]
    assert (summary["rows"], summary["reads"]["flights"]["rows"]) == (48, 0)


def analyzes(spark: Any, flights: Any) -> Any:
    path = flights.inputFiles()[0].rsplit("/", 2)[0]
    place = f"{path}/hour=2013-01-01T00%3A00"
    spark.sql(f"create table if not exists analyzed (delay double) using parquet location '{place}'")
    spark.sql("analyze table analyzed compute statistics for columns delay")
    return flights.select("delay")


@pytest.mark.cold
def test_et3_what_statistics_are_made_of_is_told(spark: SparkSession, lake: Any) -> None:
    with pytest.raises(UnpromisedReadError, match=r"inputs: AnalyzeColumnCommand; .* no ANALYZE TABLE"):
        make(spark, lake, analyzes, lake.handover(strict=True))
    assert make(spark, lake, analyzes, lake.handover(number=2)).summary()["unseen"] == ["AnalyzeColumnCommand"]
    spark.sql("drop table analyzed")


def test_strict_looks_at_files_not_at_how_they_were_found(spark: SparkSession, lake: Any) -> None:
    assert make(spark, lake, reads_promised_by_itself, lake.handover(strict=True)).reads["flights"].files == 24


def writes_aside(flights: Any, partition: Any) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        flights.write.parquet(folder + "/aside")
    return flights.limit(3).select("delay")


def test_rows_written_elsewhere_do_not_count(spark: SparkSession, lake: Any) -> None:
    assert make(spark, lake, writes_aside).written.rows == 3


def test_a_missing_input_fails_before_spark_reads(spark: SparkSession, lake: Any) -> None:
    with pytest.raises(MissingInputError, match="24 of 24 partitions are not stored"):
        make(spark, lake, good, lake.handover("2013-01-03|EWR"))


def replaced_meanwhile(spark: Any, flights: Any) -> Any:
    from pathlib import Path
    from urllib.parse import unquote

    folder = Path(unquote(min(flights.inputFiles())).removeprefix("file://")).parent
    old = folder.parents[1] / "old"
    if not old.exists():  # what a publisher does between listing and reading
        spark.createDataFrame([("EWR", 100.0)], "origin string, delay double").write.parquet(f"{old}.new")
        folder.rename(old)
        Path(f"{old}.new").rename(folder)
    return flights.groupBy("origin").max("delay").where("origin = 'EWR'").toDF("origin", "most")


def test_inputs_replaced_while_they_are_read_are_read_again(spark: SparkSession, lake: Any) -> None:
    make(spark, lake, replaced_meanwhile)
    assert lake.rows() == [{"origin": "EWR", "most": 100.0}]


def always_replaced(spark: Any, flights: Any) -> Any:
    from pathlib import Path
    from urllib.parse import unquote

    folder = Path(unquote(min(flights.inputFiles())).removeprefix("file://")).parent
    number = len([path for path in folder.parent.iterdir() if "." in path.name])
    folder.rename(f"{folder}.{number}")
    folder.mkdir()
    (folder / "0.parquet").write_bytes(Path(f"{folder}.{number}", "0.parquet").read_bytes())
    raise OSError("gone")


def test_starting_over_has_an_end(spark: SparkSession, lake: Any) -> None:
    with pytest.raises(OSError, match=r"gone|an input was replaced while it was read"):
        make(spark, lake, always_replaced)
    assert len([p for p in (lake.root / "flights").iterdir() if "." in p.name]) == 4


def test_an_own_program(spark: SparkSession, lake: Any) -> None:
    handover = lake.handover()
    with job(handover, spark) as j:
        assert set(j.inputs) == {"flights"}
        assert j.partition["airport"] == "EWR"
        j.write(j.read("flights").select("delay"))
    result = JobResult.load(handover.staging, handover.attempt.name)
    assert result.written.rows == 48
    result.written.check(readable_files(handover.staging.data), handover.staging.data)
    assert readable_files(handover.staging.data)


@pytest.mark.cold
def test_an_own_program_that_writes_nothing_or_twice(spark: SparkSession, lake: Any) -> None:
    with pytest.raises(ResultError, match="the job wrote nothing"), job(lake.handover(), spark):
        pass
    with pytest.raises(ResultError, match="is written twice"), job(lake.handover(number=2), spark) as j:  # noqa: PT012
        j.write(j.read("flights"))
        j.write(j.read("flights"))
    with (
        pytest.raises(ResultError, match="there is no input 'wether'; expected one of: flights"),
        job(lake.handover(number=3), spark) as j,
    ):
        j.read("wether")


@pytest.mark.parametrize("text", ["{", "{}", '{"attempt": 1}', '{"version": 2, "attempt": "x"}'])
def test_a_broken_result_is_refused(lake: Any, text: str) -> None:
    staging = lake.handover().staging
    staging.result.write_text(text)
    with pytest.raises(ResultError, match="can't be read"):
        JobResult.load(staging, "x")


def test_a_result_of_another_try_is_refused(spark: SparkSession, lake: Any) -> None:
    handover = lake.handover()
    with job(handover, spark) as j:
        j.write(j.read("flights"))
    with pytest.raises(ResultError, match="is that of try"):
        JobResult.load(handover.staging, "another")


def uses_udf(flights: Any, partition: Any) -> Any:
    from pyspark.sql import functions as f

    airport = partition["airport"]

    @f.udf("string")
    def tagged(origin):  # type: ignore[no-untyped-def]
        return f"{origin}-{airport}"

    return flights.limit(1).select(tagged("origin").alias("tag"))


def test_functions_inside_reach_the_workers(spark: SparkSession, lake: Any) -> None:
    make(spark, lake, uses_udf)
    assert lake.rows() == [{"tag": "EWR-EWR"}]


def test_the_lake_holds_no_strangers(spark: SparkSession, lake: Any) -> None:
    make(spark, lake, good)
    assert spark.read.parquet(lake.delays.path).count() == 1
    assert {p.name[0] for p in Path(lake.delays.path).iterdir()} == {"d"}
