"""A job of ours from input to publication, on both kinds of stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from airflow_partitions import Partition, PartitionByInterval
from airflow_partitions.core.errors import ConflictError, ResultError
from airflow_partitions.frames.input import Input
from airflow_partitions.spark import job
from airflow_partitions.spark.driver import run
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.job_result import JobResult
from airflow_partitions.spark.shipping import ship
from airflow_partitions.storage import Parquet, write_many
from airflow_partitions.storage.commit.publish import publish
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, names
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.stores.open import open_staging

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

HOURS = PartitionByInterval("@hourly", start="2013-01-01", name="hour")
DAYS = PartitionByInterval("@daily", start="2013-01-01", name="day")


def busiest(flights: DataFrame) -> DataFrame:
    return flights.groupBy("origin").count()


def test_a_job_reads_its_partitions_and_publishes_one(spark: SparkSession, root: str) -> None:
    at(root).mkdir(parents=True, exist_ok=True)
    flights = Parquet(f"{root}/flights", partition=HOURS)
    rows = spark.range(96).selectExpr(
        "date_format(timestampadd(HOUR, id % 48, timestamp'2013-01-01'), \"yyyy-MM-dd'T'HH:mmX\") hour",
        "if(id % 3 = 0, 'EWR', 'JFK') origin",
    )
    write_many(rows, flights)
    counts = Parquet(f"{root}/counts", partition=DAYS)
    partition = Partition(DAYS, "2013-01-02")
    key = DAYS.parse(partition.text)
    for number in (1, 2):
        attempt = Attempt("dag", "run", number)
        staging = open_staging(counts, attempt, counts.layout.directory_of(key))
        handover = Handover(
            asset="counts",
            attempt=attempt,
            partition=partition,
            inputs={"flights": Input.needed_by(partition, "flights", flights)},
            output=counts,
            staging=staging,
            function=ship(busiest, inputs=["flights"]),
            strict=True,
        )
        with job(Handover.from_text(handover.to_text()), spark) as current:
            run(current)
        result = JobResult.load(staging, attempt.name)
        assert (result.written.rows, result.reads["flights"].rows, result.others) == (2, 48, ())
        assert result.reads["flights"].partitions == 24
        metadata = publish(counts, key, attempt, staging, result.written)
        staging.remove()
        assert (metadata.rows, metadata.schema) == (2, {"origin": "string", "count": "bigint"})
        by_origin = {row["origin"]: row["count"] for row in counts.read(partition.text, spark=spark).collect()}
        assert by_origin == {"EWR": 16, "JFK": 32}
    assert names(bookkeeping(at(counts.path)) / "staging") == []
    late = Attempt("dag", "run", 1)
    staging = open_staging(counts, late, counts.layout.directory_of(key))
    busiest(spark.createDataFrame([("LGA",)], "origin string")).write.parquet(str(staging.data).replace("s3:", "s3a:"))
    from airflow_partitions.storage.metadata.staged_files import StagedFiles, readable_files

    with pytest.raises(ConflictError, match="the older try 1"):
        publish(counts, key, late, staging, StagedFiles(1, readable_files(staging.data), {}))


def split(flights: DataFrame) -> dict[str, DataFrame]:
    return {"busy": flights.groupBy("origin").count(), "quiet": flights.where("false")}


def test_t2_a_job_writes_all_tables_of_its_partition(spark: SparkSession, root: str) -> None:
    at(root).mkdir(parents=True, exist_ok=True)
    flights = Parquet(f"{root}/flights", partition=DAYS, schema={"origin": "string"})
    flights.save({"2013-01-02": spark.createDataFrame([("EWR",), ("EWR",), ("JFK",)], "origin string")})
    schema = {"busy": {"origin": "string", "count": "bigint"}, "quiet": {"origin": "string"}}
    counts = Parquet(f"{root}/counts", partition=DAYS, tables=("busy", "quiet"), schema=schema)
    again = Parquet(f"{root}/again", partition=DAYS)
    partition, key = Partition(DAYS, "2013-01-02"), DAYS.parse("2013-01-02")

    def make(output: Parquet, name: str, source: Parquet, function: Any) -> dict[str, Any]:
        attempt = Attempt("dag", name, 1)
        staging = open_staging(output, attempt, output.layout.directory_of(key))
        handover = Handover(
            asset="counts",
            attempt=attempt,
            partition=partition,
            inputs={"flights": Input.needed_by(partition, "flights", source)},
            output=output,
            staging=staging,
            function=ship(function, inputs=["flights"]),
            strict=True,
        )
        with job(handover, spark) as current:
            run(current)
        result = JobResult.load(staging, attempt.name)
        publish(output, key, attempt, staging, result.written)
        return result.summary()

    assert make(counts, "one", flights, split)["rows"] == 2
    assert sorted(map(tuple, counts.table("busy").read(key, spark=spark).drop("day").collect())) == [
        ("EWR", 2),
        ("JFK", 1),
    ]
    assert counts.table("quiet").read(key, spark=spark).columns == ["origin", "day"]
    assert counts.table("quiet").read(key, spark=spark).count() == 0
    reads = make(again, "two", counts.table("busy"), busiest)["reads"]["flights"]
    assert (reads["partitions"], reads["rows"]) == (1, 2)
    with pytest.raises(ResultError, match="expected a frame for each of the tables busy, quiet"):
        make(counts, "three", flights, busiest)
