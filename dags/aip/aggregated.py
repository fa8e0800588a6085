"""Many partitions become one.

A day runs when its 24 hours are there: 23 or 25 when the clock changes in New York. An hour that is made again later
runs its day again.
"""

from __future__ import annotations

from airflow_partitions import PartitionByInterval, asset

NEW_YORK = "America/New_York"


@asset(schedule="@hourly", partition=PartitionByInterval("@hourly", timezone=NEW_YORK), tags=["aip-76"])
def hourly_sales(partition):
    """Sales of one hour."""
    print(f"read {partition}")


@asset(schedule=hourly_sales, partition=PartitionByInterval("@daily", timezone=NEW_YORK), tags=["aip-76"])
def aggregated_daily_data(partition):
    """Sales of one day."""
    hours = (partition.end.timestamp() - partition.start.timestamp()) / 3600
    print(f"added up {hours:g} hours")
