"""Partitions that are late."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import attrs
from sqlalchemy import select

from airflow_partitions.authoring.deadline import PartitionDeadline
from airflow_partitions.core.calendars.timeline import FIRST
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.definitions.due_time import DueTime
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.dependencies.selection_words import selection_words
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.graph.partitioned_assets import (
    AssetDags,
    PartitionedAsset,
    partitioned_asset,
    read_assets,
)
from airflow_partitions.engine.timetables.serialized_dag import revisions
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.late import ListLate
from airflow_partitions.operate.state import State
from airflow_partitions.operate.states import states_of
from airflow_partitions.operate.states.apart import asked_apart

_THERE = State.MATERIALIZED, State.STALE, State.SKIPPED


class Deadline(NamedTuple):
    """A deadline of a Dag's partitions, in Airflow's form, which is read of one asset at a time."""

    reference: Mapping[str, Any]
    interval: Any


@attrs.frozen
class Late:
    """Partitions of an asset that are due, by one deadline of a Dag that makes them, and are not there.

    :ivar due: the deadline, in words.
    :ivar oldest: when the first of them was due; ``None`` if there is none.
    """

    asset: str
    dag_id: str
    due: str
    partitions: Selection
    oldest: datetime | None = None

    def __str__(self) -> str:
        count = len(self.partitions)
        number = f"{count:,} partition{'s' * (count > 1)}"
        return f"asset {self.asset!r}: {number} late, due by {self.due}: {self._shown}"

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        return {"due": self.due, "count": len(self.partitions), "partitions": self._shown}

    @property
    def _shown(self) -> str:
        """The partitions in words, cut where these are long."""
        return selection_words(self.partitions)


def list_late(asked: ListLate, _: Asker) -> dict[str, Any]:
    """The partitions of an asset that are due, by the deadlines of the Dags that make it, and are not there."""
    asset = partitioned_asset(asked.asset)
    deadlines = _by_deadline(asset, deadlines_of(asset.dags.producers))
    return {"asset": asset.name, "deadlines": [each.to_json() for each in deadlines]}


def late_partitions(
    dags: Collection[AssetDags], instead: Callable[[PartitionedAsset, Exception], None]
) -> Iterator[Late]:
    """The partitions that are late, by asset and deadline; only assets with deadlines are read.

    :param dags: those around the assets to look at.
    :param instead: is told of an asset of which that can't be known.
    """
    deadlines = deadlines_of(sorted({dag_id for each in dags for dag_id in each.producers}))

    def late_of(some: Sequence[PartitionedAsset]) -> dict[str, list[Late]]:
        return {asset.name: [each for each in _by_deadline(asset, deadlines) if each.partitions] for asset in some}

    def nothing(asset: PartitionedAsset, error: Exception) -> list[Late]:
        instead(asset, error)
        return []

    for asset in read_assets([each for each in dags if deadlines.keys() & set(each.producers)]):
        yield from asked_apart([asset], late_of, nothing)[asset.name]


def _by_deadline(asset: PartitionedAsset, deadlines: Mapping[str, Sequence[Deadline]]) -> Iterator[Late]:
    """What is late of an asset, or nothing, by each of its deadlines."""
    now = datetime.now(UTC)
    for dag_id in asset.dags.producers:
        for due_time, later in due_times(deadlines.get(dag_id, ())):
            due = f"{due_time} and {later}" if later else str(due_time)
            partitions = late(asset, due_time, now - later)
            yield Late(asset.name, dag_id, due, partitions, _first_due(partitions, due_time, later))


def _first_due(partitions: Selection, due_time: DueTime, later: timedelta) -> datetime | None:
    time = partitions.definition.time
    starts = [box.time_range[0] for box in partitions.boxes if box.time_range is not None]
    return None if time is None or not starts else due_time.of(time.interval_at(min(starts))) + later


def due_by(definition: PartitionDefinition, due_time: DueTime, now: datetime) -> Selection:
    """The partitions of *definition* that are due at an aware moment, all from the first on."""
    time = definition.time
    newest = None if time is None else time.last(now)
    while time is not None and newest is not None and due_time.of(newest) > now:
        newest = time.previous(newest)
    if time is None or newest is None:
        return Selection(definition)
    return Selection(definition, (Box(time.overlapping(FIRST, newest.time_range[1])),))


def late(asset: PartitionedAsset, due_time: DueTime, now: datetime) -> Selection:
    """The partitions of *asset* that are due and not there; of an open calendar from the first that is known of."""
    due = due_by(asset.definition, due_time, now)
    if not due:
        return due
    absent = set(State) - set(_THERE)
    stretches = states_of(asset, due, states=absent, limit=None, now=now).stretches
    return Selection(asset.definition, tuple(stretch.box for stretch in stretches))


def deadlines_of(dag_ids: Collection[str]) -> dict[str, list[Deadline]]:
    """The deadlines of the partitions of Dags by their ids."""
    from airflow.models.deadline_alert import DeadlineAlert

    deadlines: dict[str, list[Deadline]] = {}
    with open_session() as session:
        serialized = revisions().subquery()
        query = (
            select(serialized.c.dag_id, DeadlineAlert.reference, DeadlineAlert.interval)
            .join(serialized, serialized.c.id == DeadlineAlert.serialized_dag_id)
            .where(serialized.c.dag_id.in_(dag_ids))
            .order_by(DeadlineAlert.id)
        )
        for dag_id, reference, interval in session.execute(query):
            if reference.get("reference_type") == PartitionDeadline.__name__:
                deadlines.setdefault(dag_id, []).append(Deadline(reference, interval))
    return deadlines


def due_times(deadlines: Iterable[Deadline]) -> Iterator[tuple[DueTime, timedelta]]:
    """When partitions are due by *deadlines*, each with the interval of its alert, which comes after."""
    from airflow.sdk.serde import deserialize

    for each in deadlines:
        interval = deserialize(each.interval)
        later = interval if isinstance(interval, timedelta) else timedelta(0)  # else it is in a Variable
        yield DueTime.from_json(each.reference), later
