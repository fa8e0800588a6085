"""Assets with a long history, for the benchmark of states."""

from __future__ import annotations

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, asset

HOURS = PartitionByInterval("@hourly", timezone="America/New_York", start="2013-01-01", end="2024-06-01")
DAYS = PartitionByInterval("@daily", timezone="America/New_York", start="2013-01-01", end="2024-06-01")
REGIONS = PartitionBySequence([f"region-{n:02}" for n in range(50)], name="region")
REGION_DAYS = PartitionByProduct(
    [PartitionByInterval("@daily", timezone="America/New_York", start="2015-01-01", end="2020-06-23"), REGIONS]
)


@asset(schedule=None, partition=HOURS)
def old_hours(partition): ...


@asset(schedule=old_hours, partition=HOURS)
def hours_of_hours(partition): ...


@asset(schedule=old_hours, partition=DAYS)
def days_of_hours(partition): ...


@asset(schedule=None, partition=REGION_DAYS)
def region_days(partition): ...
