"""A job over inputs that stay the same; how tasks of a run agree on them is in tests/engine/runs/test_freezing.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa
import pytest

from airflow_partitions import Partition, PartitionByInterval
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.frames.input import Input
from airflow_partitions.spark import job
from airflow_partitions.spark.driver import run
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.job_result import JobResult
from airflow_partitions.spark.shipping import Shipped, ship
from airflow_partitions.storage import Parquet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DAYS = PartitionByInterval("@daily", start="2013-01-01", name="day")
WEEK = PartitionByInterval("0 0 * * 1", start="2012-12-31", name="week")


def test_listings_beside_the_data_of_others_are_refused(lake: Any, airflow: None) -> None:
    from airflow.sdk import Asset

    from airflow_partitions.spark.operator import SparkAssetOperator

    arguments: dict[str, Any] = {
        "task_id": "delays",
        "asset": Asset("delays"),
        "storage": lake.delays,
        "inputs": {"flights": lake.flights},
        "function": Shipped("f", "def f(flights):\n    return flights\n", ("flights",)),
    }
    with pytest.raises(InvalidDefinitionError, match="asset 'delays': input 'flights' has ownership='read-only'"):
        SparkAssetOperator(**arguments, freeze=True)
    assert SparkAssetOperator(**arguments, freeze="/lake/listings").freeze == "/lake/listings"


def total(numbers: Any) -> Any:
    return numbers.groupBy().sum("n").toDF("total")


@pytest.mark.spark
def test_a_job_reads_and_proves_what_was_listed(spark: SparkSession, tmp_path: Path, lake: Any) -> None:
    numbers = Parquet(str(tmp_path / "numbers"), partition=DAYS, schema={"n": "bigint"})
    numbers.save({f"2013-01-{day:02}": pa.table({"n": [1]}) for day in range(7, 14)})
    partition = Partition(WEEK, "2013-01-07")
    frozen = {"numbers": Input.needed_by(partition, "numbers", numbers.freeze("run"))}
    numbers.save({"2013-01-08": pa.table({"n": [10]})}, mode="overwrite")
    numbers.save({"2013-01-09": pa.table({"n": [5]})}, mode="append")
    output = Parquet(str(lake.root / "totals")).of(WEEK)
    handover = lake.handover(inputs=frozen, output=output, partition=partition, strict=True)
    handover = attrs.evolve(handover, function=ship(total, inputs=["numbers"]))
    with job(Handover.from_text(handover.to_text()), spark) as current:
        run(current)
        assert [tuple(row) for row in current.read("numbers").groupBy().sum("n").collect()] == [(7,)]
    reads = JobResult.load(handover.staging, handover.attempt.name).reads["numbers"]
    assert (reads.selected, reads.partitions, reads.files, reads.rows) == (7, 7, 14, 14)
