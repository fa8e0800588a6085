"""The partitions follow the schedule.

At every full hour one run appears, for the hour that has just ended. Nothing in the asset says which hour that is: the
run is told.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_partitions import PartitionByInterval, asset


@asset(
    schedule="@hourly",
    partition=PartitionByInterval("@hourly"),
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    tags=["aip-76"],
)
def hourly_data(partition):
    """One hour."""
    print(f"from {partition.start} to {partition.end}")
