"""An asset of a million partitions."""

from __future__ import annotations

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, asset

HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01", end="2024-06-01", name="hour")
REGION_HOURS = PartitionByProduct([HOURS, PartitionBySequence([f"region{n}" for n in range(10)], name="region")])


@asset(schedule=None, partition=REGION_HOURS)
def region_hours(partition): ...
