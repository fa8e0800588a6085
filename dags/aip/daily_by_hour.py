"""The partitions are coarser than the schedule.

The schedule ticks 24 times a day. The first tick after midnight makes one run, for the whole day before; the other 23
have nothing to make, and no run appears.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_partitions import PartitionByInterval, asset


@asset(
    schedule="@hourly",
    partition=PartitionByInterval("@daily"),
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    tags=["aip-76"],
)
def daily_data_checked_hourly(partition):
    """One day."""
    print(f"from {partition.start} to {partition.end}")
