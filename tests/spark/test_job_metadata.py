"""Schema and index of what a job has written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd
import pytest

from airflow_partitions.core.errors import (
    InvalidDefinitionError,
    SchemaError,
)
from airflow_partitions.spark import job
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.job_result import JobResult, load_error
from airflow_partitions.storage import field
from airflow_partitions.storage.commit.publish import publish
from tests.spark.in_process import good, make

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.warm]


def with_another_column(flights: Any) -> Any:
    return flights.groupBy("origin").count()


def with_another_type(flights: Any) -> Any:
    return flights.selectExpr("origin", "cast(delay as string) as most")


def test_es7_what_a_spark_asset_has_recorded_counts_for_all_writers(spark: SparkSession, lake: Any) -> None:
    make(spark, lake, good)
    with pytest.raises(
        SchemaError, match="'most' is string, not double; expected the columns origin string, most double"
    ):
        make(spark, lake, with_another_type, lake.handover(number=2))
    with pytest.raises(SchemaError, match="'count' is new; expected the columns origin string, most double"):
        lake.delays.save({"2013-01-02|JFK": pd.DataFrame({"origin": ["JFK"], "most": [1.0], "count": [1]})})
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]
    make(spark, lake, with_another_column, lake.handover("2013-01-01|JFK"))
    table = lake.delays.read(as_="arrow", full_scan=True).select(["origin", "most", "count"])
    assert sorted(table.to_pylist(), key=lambda row: str(row["count"])) == [
        {"origin": "EWR", "most": None, "count": 24},
        {"origin": "JFK", "most": None, "count": 24},
        {"origin": "EWR", "most": 47.0, "count": None},
    ]


def test_es10_a_job_brings_the_index_of_its_storage(spark: SparkSession, lake: Any) -> None:
    storage = attrs.evolve(lake.delays, index=["origin", "most"])
    order = lake.handover(strict=True, output=storage)
    assert Handover.from_text(order.to_text()).output.index == ("origin", "most")
    result = make(spark, lake, good, order)
    (name,) = result.written.files
    files = {column: index.files for column, index in result.written.index.items()}
    assert files == {"origin": {"EWR": (name,)}, "most": {"47.0": (name,)}}
    assert result.others == ()  # what it wrote is no input
    (stored,) = storage.list()
    assert stored.content.metadata.index == result.written.index
    assert (
        storage.read(field("most") > 46, "arrow").num_rows == storage.read(field("most") > 46, spark=spark).count() == 1
    )
    assert (
        storage.read(field("most") > 47, "arrow").num_rows == storage.read(field("most") > 47, spark=spark).count() == 0
    )
    missing = attrs.evolve(lake.delays, index=["ogirin"])
    order = lake.handover(number=2, output=missing)
    with pytest.raises(InvalidDefinitionError, match=r"index='ogirin' is no column of it; .* nearest: origin"):
        make(spark, lake, good, order)
    assert isinstance(load_error(order.staging), InvalidDefinitionError)
    assert lake.rows() == [{"origin": "EWR", "most": 47.0}]


def test_es10_the_task_indexes_what_the_job_has_not(spark: SparkSession, lake: Any) -> None:
    order = lake.handover()
    make(spark, lake, good, order)
    declared = attrs.evolve(lake.delays, index=["most"])
    again = lake.handover(number=2)
    with job(again, spark) as current:
        current.write(
            current.read("flights").where("origin = 'EWR'").groupBy("origin").max("delay").toDF("origin", "most")
        )
    written = JobResult.load(again.staging, again.attempt.name).written
    assert written.index == {}
    publish(declared, again.partition.wrapped, again.attempt, again.staging, written)
    (stored,) = declared.list()
    ((text, names),) = stored.content.metadata.index["most"].files.items()
    assert (float(text), names) == (47, tuple(stored.files))
