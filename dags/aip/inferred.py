"""Partitions that are the schedule's own, without saying it twice.

``INFER`` is written out, so that a reader always finds ``partition=``. Every day at noon the first asset makes the time
since the noon before; the second one has the same partitions, since all that it is scheduled on has them.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_partitions import INFER, asset


@asset(schedule="0 12 * * *", partition=INFER, start_date=datetime(2024, 1, 1, tzinfo=UTC), tags=["aip-76"])
def noon_to_noon(partition):
    """From one noon to the next."""
    print(f"from {partition.start} to {partition.end}")


@asset(schedule=noon_to_noon, partition=INFER, tags=["aip-76"])
def noon_to_noon_report(partition):
    """The same time, reported."""
    print(f"reported {partition}")
