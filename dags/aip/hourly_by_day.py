"""The partitions are finer than the schedule.

At midnight 24 runs appear, one for each hour of the day that has just ended.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_partitions import PartitionByInterval, asset


@asset(
    schedule="@daily",
    partition=PartitionByInterval("@hourly"),
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    max_active_runs=24,
    tags=["aip-76"],
)
def hourly_data_generated_daily(partition):
    """One hour."""
    print(f"from {partition.start} to {partition.end}")
