"""Both assets have the same partitions.

Each hour of the second waits for the same hour of the first, and for nothing else.
"""

from __future__ import annotations

from airflow_partitions import PartitionByInterval, asset


@asset(schedule="@hourly", partition=PartitionByInterval("@hourly"), tags=["aip-76"])
def raw_hourly_data(partition):
    """One hour as it came in."""
    print(f"read {partition}")


@asset(schedule=raw_hourly_data, partition=PartitionByInterval("@hourly"), tags=["aip-76"])
def clean_hourly_data(partition):
    """The same hour, cleaned."""
    print(f"cleaned {partition}")
