"""Each run covers a window that overlaps the one before.

Every hour of the second asset needs the same hour of the first and the one before it, instead of what it overlaps.
"""

from __future__ import annotations

from airflow_partitions import Lookback, PartitionByInterval, asset


@asset(schedule="@hourly", partition=PartitionByInterval("@hourly"), tags=["aip-76"])
def hourly_clicks(partition):
    """Clicks of one hour."""
    print(f"read {partition}")


@asset(
    schedule=hourly_clicks,
    partition=PartitionByInterval("@hourly"),
    rules={"hourly_clicks": Lookback(1)},
    tags=["aip-76"],
)
def two_hours_of_clicks(partition):
    """Clicks of the hour and the one before it."""
    print(f"added up {partition.previous} and {partition}")
