"""Checks of what a Spark job writes: by the task, and by the job itself where they take a DataFrame of Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from airflow_partitions import PartitionByInterval, spark_asset
from airflow_partitions.authoring.local import try_partition
from airflow_partitions.checks import FunctionCheck, NotNull, RowCount, SameRowCount, Unique, ValueRange
from airflow_partitions.core.errors import CheckError, InvalidDefinitionError, ShippingError
from airflow_partitions.storage import Parquet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", name="date")
DAY = "2013-02-08"


def flights(spark: Any, raw: Any) -> Any:
    return raw.repartition(2)


def departed(rows: DataFrame, partition: Any) -> DataFrame:
    from pyspark.sql import functions as f

    assert dict(rows.dtypes)["date"] == "string"
    return rows.where(f.col("delay").isNull() | (rows["date"] != partition.text))


def there(rows):  # type: ignore[no-untyped-def]
    return rows.count() > 0


def broken(rows: DataFrame) -> bool:
    return rows.select("dealy").count() == 0


def in_pandas(rows: pd.DataFrame) -> bool:
    return bool((rows["delay"] < 100).all())


def silent(rows: DataFrame) -> None:
    rows.count()


LATE = 60


def outside(rows: DataFrame) -> bool:
    return rows.where(rows["delay"] > LATE).count() == 0


def declared(path: Path, checks: Any) -> Any:
    raw = Parquet(str(path / "raw"), partition=DAYS, ownership="read-only")
    storage = Parquet(str(path / "flights"), partition_on={"date": "%Y-%m-%d"})
    return spark_asset(schedule="@daily", partition=DAYS, inputs={"raw": raw}, storage=storage, checks=checks)(flights)


def test_checks_of_a_job_are_made_by_the_job_and_by_the_task(spark: SparkSession, tmp_path: Path) -> None:
    good = spark.createDataFrame([("EWR", 1), ("JFK", 2)], "origin string, delay int")
    checks = [departed, there, in_pandas, NotNull("origin"), Unique("origin"), SameRowCount("raw"), RowCount(at_most=2)]
    flights = declared(tmp_path, [*checks, ValueRange("delay", at_least=0, at_most=2)])
    trial = try_partition(flights, DAY, inputs={"raw": good}, spark=spark)
    assert {check.name: check.observed for check in trial.checks} == {
        "departed": "no failing rows",
        "there": "it returned True",
        "in_pandas": "it returned True",
        "no nulls in origin": "none in 2 rows",
        "unique origin": "2 in 2 rows",
        "row count of raw": "2 rows, 2 in raw",
        "row count": "2 rows",
        "range of delay": "1 to 2",
    }
    assert trial.result is not None
    assert trial.result.reads["raw"].rows == 2  # what a check reads again is no input
    bad = spark.createDataFrame([("EWR", 1), ("EWR", None), (None, 7)], "origin string, delay int")
    with pytest.raises(CheckError) as failure:
        try_partition(flights, DAY, inputs={"raw": bad}, spark=spark)
    assert str(failure.value).startswith("asset 'flights', partition '2013-02-08': 6 of 8 checks failed")
    assert "departed: 1 failing row; expected no failing rows; such as {'origin': 'EWR', 'delay': None" in str(
        failure.value
    )
    assert [check.name for check in failure.value.results if check.passed] == ["there", "row count of raw"]


def test_a_check_of_a_job_that_raises_has_failed(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame([("EWR", 1)], "origin string, delay int")
    with pytest.raises(CheckError, match=r"broken: it raised AnalysisException: .*dealy"):
        try_partition(declared(tmp_path, [broken]), DAY, inputs={"raw": rows}, spark=spark)
    warned = declared(tmp_path, [FunctionCheck(broken, severity="warn")])
    (result,) = try_partition(warned, DAY, inputs={"raw": rows}, spark=spark).checks
    assert (result.passed, result.severity) == (False, "warn")


def test_a_function_that_can_not_be_shipped_is_refused_when_the_file_is_parsed(tmp_path: Path) -> None:
    with pytest.raises(ShippingError, match="'silent' returns nothing; expected whether all is well"):
        declared(tmp_path, [silent])
    with pytest.raises(ShippingError, match="'outside' uses the variable 'LATE' of its file"):
        declared(tmp_path, [outside])
    with pytest.raises(InvalidDefinitionError, match="check 'row count of rows' is about 'rows', which is no input"):
        declared(tmp_path, [SameRowCount("rows")])
