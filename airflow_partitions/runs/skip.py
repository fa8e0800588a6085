"""Skip of scheduled runs whose partition exists already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from airflow.sdk import Asset

    from airflow_partitions.partition import Partition


def skip_if_materialised(context: Mapping[str, Any]) -> None:
    """End the task as skipped if another run made its partition after the partition's interval was over.

    Only on the first try of a scheduled run, and not for a refresh: whoever clears a run, or asks for one, wants it to
    work. What was made before the interval's end is provisional and is made again.

    :raises AirflowSkipException: naming the run.
    """
    from airflow.sdk import Asset

    partition: Partition = context["partition"]
    run, timetable = context["dag_run"], context["dag"].timetable
    if run.run_type != "scheduled" or context["ti"].try_number > 1 or partition.end is None:
        return
    if not timetable.makes_due(partition.wrapped, run.run_after):
        return
    outlets = [outlet for outlet in context["task"].outlets if isinstance(outlet, Asset)]
    makers = [_maker(outlet, partition, run.run_id) for outlet in outlets]
    if makers and all(makers):
        from airflow.sdk.exceptions import AirflowSkipException

        made_by = ", ".join(map(str, makers))
        raise AirflowSkipException(f"partition {partition} was made already, after its end: {made_by}")


def _maker(asset: Asset, partition: Partition, run_id: str) -> str | None:
    """The maker of the partition of *asset* since its interval was over, other than the run *run_id*."""
    from airflow.sdk.execution_time.context import InletEventsAccessor

    if partition.end is None:
        return None
    events = InletEventsAccessor(asset_name=asset.name, asset_uri=asset.uri).after(partition.end.isoformat())
    for event in events:
        if event.partition_key == partition.text and event.source_run_id != run_id:
            return (
                f"run {event.source_run_id} of {event.source_dag_id}"
                if event.source_run_id
                else "an event from outside"
            )
    return None
