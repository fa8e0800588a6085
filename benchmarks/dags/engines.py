"""The same partition made by a job for which a worker waits, and by one for which none does; and an empty task."""

from __future__ import annotations

import os

from airflow.sdk import DAG, task

from airflow_partitions import PartitionByInterval, Partitioned, spark_asset
from airflow_partitions.spark.engines import EmrServerless
from airflow_partitions.storage import Parquet

LAKE = os.environ["AIRFLOW_PARTITIONS_LAKE"]
DAYS = PartitionByInterval("@daily", start="2013-01-01", end="2014-01-01", name="date")


def made(spark):
    return spark.range(3)


for way in ("held", "freed"):
    spark_asset(
        name=way,
        schedule=None,
        partition=DAYS,
        storage=Parquet(f"{LAKE}/{way}", partition_on={"date": "%Y-%m-%d"}),
        max_active_runs=64,
        engine=EmrServerless(
            application_id="app",
            execution_role_arn="arn:aws:iam::123456789012:role/spark",
            mounts=[LAKE],
            poll_seconds=1,
            deferrable=way == "freed",
        ),
    )(made)

with DAG("empty", schedule=Partitioned(None, DAYS)):

    @task
    def nothing():
        pass

    nothing()
