"""The partitions of the two assets overlap.

The hour from 14:30 to 15:30 waits for both that it touches: from 14:00 and from 15:00.
"""

from __future__ import annotations

from airflow_partitions import PartitionByInterval, asset


@asset(schedule="@hourly", partition=PartitionByInterval("@hourly"), tags=["aip-76"])
def hourly_readings(partition):
    """From one full hour to the next."""
    print(f"read {partition}")


@asset(schedule=hourly_readings, partition=PartitionByInterval("30 * * * *"), tags=["aip-76"])
def hourly_data_shifted(partition):
    """From half past to half past."""
    print(f"needed two hours for {partition.start} to {partition.end}")
