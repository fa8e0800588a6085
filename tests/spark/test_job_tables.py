"""A job whose inputs and output are tables of Iceberg: what it reads is counted, what it writes is published."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa
import pytest

from airflow_partitions import Partition, PartitionByInterval
from airflow_partitions.checks import FunctionCheck, NotNull, StagedPartition, ValueRange
from airflow_partitions.checks.audit import audit
from airflow_partitions.core.errors import ForeignRowsError, MissingInputError, UnpromisedReadError
from airflow_partitions.frames.frame import Frame
from airflow_partitions.frames.input import Input
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.shipped_check import ship_check
from airflow_partitions.storage import Attempt, Iceberg
from airflow_partitions.storage.stores.open import open_staging
from tests.spark.conftest import DAILY
from tests.spark.in_process import make

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.warm]

HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01", name="hour")


@attrs.frozen
class Tables:
    """Flights of 27 hours in New York, two in each; and a place for delays by day and airport."""

    root: Path

    @property
    def catalog(self) -> dict[str, str]:
        return {"type": "sql", "uri": f"sqlite:///{self.root}/catalog.db", "warehouse": str(self.root / "warehouse")}

    @property
    def flights(self) -> Iceberg:
        schema = {"departed_at": "timestamp", "origin": "string", "delay": "double"}
        on = {"hour": "departed_at"}
        return Iceberg(
            "flights.flights", credentials=self.catalog, partition=HOURS, partition_on=on, schema=schema, create=True
        )

    @property
    def delays(self) -> Iceberg:
        schema = {"date": "date", "airport": "string", "most": "double"}
        return Iceberg("flights.delays", credentials=self.catalog, schema=schema, create=True).of(DAILY)

    def fill(self) -> None:
        frames = {}
        for number, hour in enumerate(HOURS.keys("2013-11-03", "2013-11-04T02:00-05:00")):
            moments = [hour.start.astimezone(UTC) + timedelta(minutes=minute) for minute in (5, 50)]
            frames[hour] = pa.table({"departed_at": moments, "origin": ["EWR", "JFK"], "delay": [1.0 * number, 2.0]})
        self.flights.save(frames)

    def handover(self, key: str = "2013-11-03|EWR", number: int = 1, **changes: Any) -> Handover:
        """What the Airflow task hands over: neither input nor output has a catalog on the driver."""
        partition, attempt = Partition(DAILY, key), Attempt("dag", "run", number)
        staging = open_staging(self.delays, attempt, self.delays.layout.directory_of(partition.wrapped))
        frame = changes.pop("frame", None)
        flights = Input.needed_by(partition, "flights", self.flights, frame=frame).handed_over(staging.inputs)
        order = Handover(
            asset="delays",
            attempt=attempt,
            partition=partition,
            inputs={"flights": flights},
            output=self.delays,
            staging=staging,
            **{"strict": True, **changes},
        )
        driver = Handover.from_text(order.to_text())
        assert not driver.output.credentials
        assert not driver.inputs["flights"].storage.credentials
        return attrs.evolve(driver, output=self.delays, staging=staging)  # which is published from here

    def rows(self, key: str = "2013-11-03|EWR") -> list[dict[str, Any]]:
        table: pa.Table = self.delays.read(key, as_="arrow", columns=["airport", "most"])
        return table.to_pylist()


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    tables = Tables(tmp_path)
    tables.fill()
    return tables


def longest(partition: Any, flights: Any) -> Any:
    here = flights.where(flights.origin == partition["airport"])
    return here.groupBy("origin").max("delay").toDF("airport", "most")


def test_a21_a_day_of_25_hours_is_read_and_nothing_else(spark: SparkSession, tables: Tables) -> None:
    result = make(spark, tables, longest, tables.handover())
    assert tables.rows() == [{"airport": "EWR", "most": 24.0}]
    reads = result.reads["flights"]
    assert (reads.selected, reads.partitions, reads.files, reads.rows) == (25, 25, 25, 50)
    assert not result.others
    assert (result.written.rows, len(result.written.files)) == (1, 1)


def in_polars(partition: Any, flights: Any) -> Any:
    import polars as pl

    assert flights.columns == ["origin", "delay"]
    here = flights.filter(pl.col("origin") == partition["airport"])
    return here.select(most=pl.max("delay"))


def test_f1_a_function_on_the_driver_takes_and_gives_other_frames(spark: SparkSession, tables: Tables) -> None:
    frame = Frame("polars", {"origin": None, "delay": None})
    result = make(spark, tables, in_polars, tables.handover(frame=frame))
    assert tables.rows() == [{"airport": "EWR", "most": 24.0}]
    assert result.reads["flights"].files == 25


def nothing(flights: Any) -> Any:
    return flights.where("delay < -1").selectExpr("origin as airport", "delay as most")


def test_an_empty_result_replaces_what_was_there(spark: SparkSession, tables: Tables) -> None:
    make(spark, tables, longest, tables.handover())
    result = make(spark, tables, nothing, tables.handover(number=2))
    assert (result.written.rows, dict(result.written.files)) == (0, {})
    assert tables.rows() == []
    partition = tables.delays.get("2013-11-03|EWR")
    assert partition is not None
    assert partition.rows == 0


def foreign(flights: Any) -> Any:
    return flights.selectExpr("date'2013-11-04' as date", "'EWR' as airport", "delay as most")


def test_rows_of_another_day_are_not_published(spark: SparkSession, tables: Tables) -> None:
    make(spark, tables, longest, tables.handover())
    with pytest.raises(ForeignRowsError, match=r"rows of other partitions than '2013-11-03\|EWR'"):
        make(spark, tables, foreign, tables.handover(number=2))
    assert tables.rows() == [{"airport": "EWR", "most": 24.0}]


def elsewhere(spark: Any, flights: Any) -> Any:
    folder = flights.select("_file").first()[0].rpartition("/data/")[0]
    return (
        spark.read.option("recursiveFileLookup", "true")
        .parquet(f"{folder}/data")
        .selectExpr("'EWR' as airport", "delay as most")
    )


def test_a_strict_job_reads_no_other_files_of_the_table(spark: SparkSession, tables: Tables) -> None:
    with pytest.raises(UnpromisedReadError, match=r"read \d+ places it was not promised|Nothing was read"):
        make(spark, tables, elsewhere, tables.handover())
    assert not tables.delays.exists("2013-11-03|EWR")


def test_what_was_pinned_is_read_whoever_writes_meanwhile(spark: SparkSession, tables: Tables) -> None:
    handover = tables.handover()
    hour = HOURS.parse("2013-11-03T05:00-05:00")
    late = pa.table({"departed_at": [datetime(2013, 11, 3, 10, 1, tzinfo=UTC)], "origin": ["EWR"], "delay": [99.0]})
    tables.flights.save({hour: late}, mode="overwrite")
    make(spark, tables, longest, handover)
    assert tables.rows() == [{"airport": "EWR", "most": 24.0}]
    make(spark, tables, longest, tables.handover(number=2))
    assert tables.rows() == [{"airport": "EWR", "most": 99.0}]


def test_a_missing_hour_fails_before_the_job(tables: Tables) -> None:
    with pytest.raises(MissingInputError, match=r"22 of 24 partitions are not stored in 'flights.flights'"):
        Input.needed_by(Partition(DAILY, "2013-11-04|EWR"), "flights", tables.flights).stored()


def positive(rows: Any) -> Any:
    return rows.where("most <= 0")


def test_a_check_reads_what_is_in_no_snapshot_yet_and_that_counts_as_no_input(
    spark: SparkSession, tables: Tables
) -> None:
    check = ship_check(FunctionCheck(positive).over(Frame()), ())
    order = tables.handover(checks=(check,))
    result = make(spark, tables, longest, order)
    (outcome,) = result.checks
    assert (outcome.name, outcome.passed, outcome.observed) == ("positive", True, "no failing rows")
    assert not result.others
    assert result.reads["flights"].files == 25
    staged = StagedPartition(order.partition, order.output, result.written, order.staging.data)
    (nulls, bounds) = audit([NotNull("most"), ValueRange("most", at_most=24)], staged, "delays")
    assert (nulls.observed, bounds.observed) == ("none in 1 row", "24.0 to 24.0")
