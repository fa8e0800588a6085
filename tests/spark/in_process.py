"""Jobs made, run and published in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.spark import job
from airflow_partitions.spark.driver import run
from airflow_partitions.spark.handover import Handover
from airflow_partitions.spark.job_result import JobResult
from airflow_partitions.spark.shipping import ship
from airflow_partitions.storage.commit.publish import publish

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_warm(spark: SparkSession) -> bool:
    """Whether the session is one of Spark Connect."""
    return not hasattr(spark, "_jsparkSession")


def make(spark: SparkSession, lake: Any, function: Any, handover: Handover | None = None) -> JobResult:
    """What Airflow, spark-submit or a Spark Connect server, and the driver do, in one process."""
    from airflow_partitions.spark.connect.run import run_connected
    from airflow_partitions.spark.connection import connection_of

    request = handover or lake.handover()
    request = attrs.evolve(request, function=ship(function, inputs=request.inputs))
    if is_warm(spark):
        run_connected(request, connection_of("warm"), {}, lambda _: None)
    else:
        with job(request, spark) as current:
            run(current)
    result = JobResult.load(request.staging, request.attempt.name)
    publish(
        request.output,
        request.partition.wrapped,
        request.attempt,
        request.staging,
        result.written,
    )
    return result


def good(partition: Any, flights: Any) -> Any:
    return flights.where(flights.origin == partition["airport"]).groupBy("origin").max("delay").toDF("origin", "most")
