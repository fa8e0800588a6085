"""Partitions and mapped tasks have nothing to do with each other.

Each partition is a run of its own; in every run the mapped task has as many instances as there are files: N x M.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.sdk import DAG, Asset, task

from airflow_partitions import PartitionByInterval, Partitioned

FILES = Asset("files_by_hour")

with DAG(
    "files_by_hour",
    schedule=Partitioned("@hourly", PartitionByInterval("@hourly"), asset=FILES),
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    tags=["aip-76"],
):

    @task
    def load(file, partition=None):
        """One file of one hour."""
        print(f"loaded {file} of {partition}")

    @task(outlets=[FILES])
    def check(partition=None):
        """The hour is there when all its files are."""
        print(f"{partition} is complete")

    load.expand(file=["a.csv", "b.csv", "c.csv"]) >> check()
