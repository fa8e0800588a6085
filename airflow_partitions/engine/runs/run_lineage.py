"""What a run knows of the partitions that its task reads and makes, for OpenLineage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import attrs
from airflow.sdk import Asset
from airflow.sdk.definitions.asset import AssetNameRef

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import InvalidKeyError, MissingPartitionError
from airflow_partitions.core.partition import Partition
from airflow_partitions.engine.runs.made_beside import MADE_BESIDE
from airflow_partitions.engine.runs.pre_execute import partition_of
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.frames.input import Input
from airflow_partitions.frames.several import joined
from airflow_partitions.storage.storage import Storage

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionDefinition
    from airflow_partitions.engine.timetables.upstreams import Upstreams


@attrs.frozen(kw_only=True)
class RunLineage:
    """What a run knows of what its task reads and makes.

    :ivar definition: of the partitions.
    :ivar partitions: those that are made, or are to be.
    :ivar inputs: what they need of storage, all of them together.
    :ivar inlets: what the task names besides, each with the partitions that they need of it, if that is known.
    :ivar outlets: what the task writes, each with its storage, if it has some.
    :ivar extras: those of the events of *partitions*, by the name of the asset.
    """

    definition: PartitionDefinition
    partitions: Sequence[Partition]
    inputs: Mapping[str, Input] = attrs.field(factory=dict)
    inlets: Sequence[tuple[Any, Selection | None]] = ()
    outlets: Sequence[tuple[Any, Storage | None]] = ()
    extras: Sequence[Mapping[str, Mapping[str, Any] | None]] = ()


def run_lineage(context: Mapping[str, Any], *, is_made: bool) -> RunLineage | None:
    """What the run of *context* knows; ``None`` if it has no partition.

    :param is_made: whether the task has made the partition of its run, or is going to.
    """
    timetable, task, due = context["dag"].timetable, context["task"], context["dag_run"].run_after
    if not isinstance(timetable, PartitionTimetable) or timetable.partition is None:
        return None
    try:
        own = partition_of(context)
    except (MissingPartitionError, InvalidKeyError):  # the task fails by it, and says so
        return None
    beside = list(MADE_BESIDE.values())
    runs = [(own, due), *((made.partition, made.run_after) for made in beside)]
    needed_by = getattr(task, "needed_by", None)
    needed: list[Mapping[str, Input]] = [] if needed_by is None else [needed_by(*run) for run in runs]
    upstreams: Upstreams | None = getattr(timetable, "upstreams", None)
    extras = [made.extras for made in beside]
    if is_made:
        events = context["outlet_events"]
        extras.append({asset.name: events[asset].extra for asset in events if isinstance(asset, Asset)})
    return RunLineage(
        definition=timetable.partition,
        partitions=[*([own] if is_made else ()), *(made.partition for made in beside)],
        inputs=joined(needed),
        inlets=[_read(inlet, upstreams, runs) for inlet in task.inlets],
        outlets=[(outlet, _storage(task, outlet)) for outlet in task.outlets],
        extras=extras,
    )


def _read(
    inlet: Any, upstreams: Upstreams | None, runs: Sequence[tuple[Partition, datetime]]
) -> tuple[Any, Selection | None]:
    """An *inlet*, and the partitions of it that *runs* need, as far as the Dag file says them."""
    is_asset = isinstance(inlet, Asset | AssetNameRef)
    if upstreams is None or not is_asset or inlet.name not in upstreams.leaves or upstreams.is_looked_up(inlet.name):
        return inlet, None
    upstream = upstreams.member(inlet.name)
    asset = Asset(name=upstream.name, uri=upstream.uri) if upstream.uri else inlet
    needed = (upstream.dependency.upstream(partition.wrapped, now=due) for partition, due in runs)
    return asset, reduce(or_, needed)


def _storage(task: Any, outlet: Any) -> Storage | None:
    """Where *task* stores an *outlet*; ``None`` if it only says that it writes it."""
    storage = getattr(task, "storage", None)
    is_own = isinstance(outlet, Asset) and outlet.name == getattr(task, "asset_name", None)
    return storage if is_own and isinstance(storage, Storage) else None
