"""Load what is new since the last time.

The key is how far a load has come: the high watermark. The low one is the key that was added before it, which the
consumer finds in ``partition.previous``. A load that finds nothing new adds nothing, and nothing runs.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow_partitions import PartitionAtRuntime, asset

loaded_orders = PartitionAtRuntime(name="loaded_orders")


@asset(schedule="@hourly", partition=loaded_orders, start_date=datetime(2024, 1, 1, tzinfo=UTC), tags=["aip-76"])
def order_loads():
    """Ask the source for its newest order."""
    newest = 1000 * (1 + len(loaded_orders.partitions()))
    loaded_orders.add_partition(newest, metadata={"rows": 1000}, once=True)


@asset(schedule=order_loads, partition=loaded_orders, max_active_runs=1, tags=["aip-76"])
def new_orders(partition):
    """The orders between the two watermarks."""
    low = 0 if partition.previous is None else partition.previous.key
    print(f"orders {low} to {partition.key}: {partition.metadata['rows']} rows")
