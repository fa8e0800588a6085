"""The last partitions are made again with each new one.

Every midnight three runs appear: for the day that has just ended, and for the two before it, whose data may have
changed since.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_partitions import PartitionByInterval, asset


@asset(
    schedule="@daily",
    partition=PartitionByInterval("@daily"),
    refresh=2,
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    tags=["aip-76"],
)
def daily_data_refreshed(partition):
    """One day, with what came late."""
    print(f"made {partition}")
