"""Runs by hand.

Whoever triggers a run names its partition. Without one, or with an unknown or unfinished one, the request is refused,
and says what to write. If somebody has made yesterday by hand when its schedule comes round, the scheduled run ends as
skipped and names the other run.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_partitions import PartitionByInterval, asset


@asset(
    schedule="@daily",
    partition=PartitionByInterval("@daily"),
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    tags=["aip-76"],
)
def daily_data_by_hand(partition, context):
    """One day."""
    print(f"made {partition} in a {context['dag_run'].run_type} run")
