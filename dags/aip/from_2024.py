"""Partitions with a beginning, to be backfilled.

Nothing runs for the time before now by itself. A backfill of the first days of 2024, from Airflow's UI, REST or command
line, makes exactly those; one that begins in 2023 starts at the first partition there is.
"""

from __future__ import annotations

from datetime import date

from airflow_partitions import PartitionByInterval, asset


@asset(
    schedule="@daily",
    partition=PartitionByInterval(
        "@daily",
        start=date(2024, 1, 1),  # for backfilling
    ),
    tags=["aip-76"],
)
def daily_data_from_2024(partition):
    """One day."""
    print(f"made {partition}")
