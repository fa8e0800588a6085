"""The partition of a run in what OpenLineage is told of its tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
from airflow.sdk import Asset
from openlineage.client.generated.base import RunFacet

from airflow_partitions.core.errors import InvalidKeyError, MissingPartitionError
from airflow_partitions.engine.runs.made_beside import MADE_BESIDE
from airflow_partitions.engine.runs.pre_execute import partition_of
from airflow_partitions.engine.timetables.base import PartitionTimetable

if TYPE_CHECKING:
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance
    from airflow.utils.state import TaskInstanceState

FACET = "airflowPartitions_partition"


@attrs.define(kw_only=True)
class PartitionRunFacet(RunFacet):  # type: ignore[misc, unused-ignore]
    """The partition that a task works for.

    :ivar assets: names of the assets that the task writes; none for one on the way there.
    :ivar key: text of the partition's key.
    :ivar dimensions: text of each dimension's value, in the declared order.
    :ivar start: first instant, ISO 8601 with the offset of the partitions' zone; ``None`` without a time dimension.
    :ivar end: first instant after it, written the same way.
    :ivar timezone: IANA name of that zone.
    :ivar batch: texts of the keys of those partitions that it has made beside this one, in a batch, by now.
    """

    assets: list[str]
    key: str
    dimensions: Mapping[str, str]
    start: str | None
    end: str | None
    timezone: str | None
    batch: list[str]


def partition_run_facet(task_instance: RuntimeTaskInstance, state: TaskInstanceState) -> dict[str, RunFacet]:  # noqa: ARG001 - as Airflow's provider calls it
    """The facet of a task's run, for ``[openlineage] custom_run_facets``; none if the run has no partition."""
    context: Any = task_instance.get_template_context()
    timetable = context["dag"].timetable
    if not isinstance(timetable, PartitionTimetable) or timetable.partition is None:
        return {}
    try:
        partition = partition_of(context)
    except (MissingPartitionError, InvalidKeyError):  # the task fails by it, and says so
        return {}
    definition, start, end = partition.definition, partition.start, partition.end
    facet = PartitionRunFacet(
        assets=[outlet.name for outlet in context["task"].outlets if isinstance(outlet, Asset)],
        key=partition.text,
        dimensions={name: str(part) for name, part in definition.dimensions_of(partition.wrapped).items()},
        start=None if start is None else start.isoformat(),
        end=None if end is None else end.isoformat(),
        timezone=None if definition.time is None else definition.time.timezone,
        batch=list(MADE_BESIDE),
    )
    return {FACET: facet}
