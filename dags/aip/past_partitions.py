"""What a task can ask of its partition.

The context has it under ``partition``: the key, the definition, and the partitions before this one, the nearest first.
Of a sequence those are the ones declared before it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from airflow.sdk import get_current_context

from airflow_partitions import PartitionBySequence, asset


@asset(
    schedule="@daily",
    partition=PartitionBySequence(["marketing-dwh", "engineering-dwh"]),
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    tags=["aip-76"],
)
def dwh_cloud_spend_so_far():
    """What the warehouses have cost up to this one."""
    context = get_current_context()
    print(f"{context['partition'].key}, one of {list(context['partition'].definition.values)}")
    for partition in context["partition"].iter_past_partitions():
        print(f"after {partition.key}")
