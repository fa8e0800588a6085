"""A small partition made by each way; an empty task; and the same job as one would write it without us."""

from __future__ import annotations

import os

from airflow.sdk import DAG, get_current_context, task

from airflow_partitions import PartitionByInterval, Partitioned, spark_asset
from airflow_partitions.storage import Parquet

LAKE = os.environ["AIRFLOW_PARTITIONS_LAKE"]
HOURS = PartitionByInterval("@hourly", start="2013-01-01", end="2014-01-01")
DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2014-01-01", name="date")
FLIGHTS = Parquet(
    f"{LAKE}/flights",
    partition=HOURS,
    partition_on={"hour": "%Y-%m-%dT%H"},
    schema={"origin": "string", "delay": "double"},
    ownership="read-only",
)


def made(flights):
    return flights.where("delay > 30").groupBy("origin").count()


for way in ("cold", "warm"):
    spark_asset(
        name=way,
        schedule=None,
        partition=DAYS,
        storage=Parquet(f"{LAKE}/{way}", partition_on={"date": "%Y-%m-%d"}),
        inputs={"flights": FLIGHTS},
        strict=True,
        conn_id=way,
    )(made)
    spark_asset(
        name=f"many_{way}",
        schedule=None,
        partition=DAYS,
        storage=Parquet(f"{LAKE}/many_{way}", partition_on={"date": "%Y-%m-%d"}),
        inputs={"flights": FLIGHTS},
        strict=True,
        conn_id=way,
        pool=way,
        max_active_runs=64,
    )(made)

with DAG("empty", schedule=Partitioned(None, DAYS)):

    @task
    def nothing():
        pass

    nothing()

with DAG("by_hand", schedule=Partitioned(None, DAYS)):

    @task.pyspark(conn_id="warm")
    def by_hand(spark):
        partition = get_current_context()["partition"]
        paths = [f"{LAKE}/flights/hour={partition.start:%Y-%m-%d}T{hour:02}" for hour in range(24)]
        rows = spark.read.parquet(*paths).where("delay > 30").groupBy("origin").count()
        rows.write.mode("overwrite").parquet(f"{LAKE}/by_hand/date={partition.text}")

    by_hand()
