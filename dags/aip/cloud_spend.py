"""Partitions that are no times, and partitions that are both.

At midnight two runs of the first asset appear, one for each data warehouse. Each starts 24 runs of the second, for the
hours of the day before and its own warehouse: 48 in all. The first asset has no time to choose them by; its tick does.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_partitions import PartitionByInterval, PartitionByProduct, PartitionBySequence, asset

WAREHOUSES = PartitionBySequence(["marketing-dwh", "engineering-dwh"], name="warehouse")


@asset(schedule="@daily", partition=WAREHOUSES, start_date=datetime(2024, 1, 1, tzinfo=UTC), tags=["aip-76"])
def dwh_daily_cloud_spend(partition):
    """What one warehouse has cost."""
    print(f"asked {partition.key} for its bill")


@asset(
    schedule=dwh_daily_cloud_spend,
    partition=PartitionByProduct([PartitionByInterval("@hourly"), WAREHOUSES]),
    max_active_runs=48,
    tags=["aip-76"],
)
def dwh_spend_analysis(partition):
    """What one warehouse has cost in one hour."""
    print(f"{partition['warehouse']} from {partition.start} to {partition.end}")
