"""Partitions that a task adds while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airflow_partitions.definitions.runtime import TAKER
from airflow_partitions.errors import InvalidDefinitionError

if TYPE_CHECKING:
    from airflow_partitions.definitions import PartitionAtRuntime
    from airflow_partitions.keys import Segment


def take_added(context: Mapping[str, Any]) -> None:
    """Let ``add_partition`` put its keys on the events of the task's assets, until the task ends.

    Runs as the pre-execute hook of every task in a Dag that adds partitions.
    """

    def take(definition: PartitionAtRuntime, keys: list[Segment], metadata: Any) -> None:
        from airflow.sdk import Asset

        from airflow_partitions.timetables.hint import published

        assets = [outlet for outlet in context["task"].outlets if isinstance(outlet, Asset)]
        mine = [asset for asset in assets if published(asset.extra) == definition]
        if not mine:
            raise InvalidDefinitionError(
                f"task {context['task'].task_id!r} writes no asset with partition={definition!r};"
                f" it writes: {', '.join(asset.name for asset in assets) or 'none'}"
            )
        for asset in mine:
            context["outlet_events"][asset].add_partitions([key.text for key in keys])
            if metadata is not None:
                for key in keys:
                    context["asset_state_store"][asset].set(f"partition|{key.text}", metadata)

    TAKER.set(take)
