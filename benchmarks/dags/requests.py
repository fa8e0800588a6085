"""An asset with a long history, for the benchmark of requests."""

from __future__ import annotations

from airflow_partitions import PartitionByInterval, asset

HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01")


@asset(schedule=None, partition=HOURS)
def requested_hours(partition): ...
