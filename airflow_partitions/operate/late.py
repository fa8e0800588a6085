"""Partitions that are late."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import select

from airflow_partitions.authoring.deadline import PartitionDeadline
from airflow_partitions.core.calendars.timeline import FIRST
from airflow_partitions.core.definitions.due_time import DueTime
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.engine.database.connection import open_session
from airflow_partitions.engine.timetables.serialized_dag import revisions
from airflow_partitions.operate.states import State, states_of

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionDefinition
    from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset

_THERE = State.MATERIALIZED, State.STALE, State.SKIPPED


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


def due_times(dag_ids: Collection[str]) -> dict[str, list[tuple[DueTime, timedelta]]]:
    """The deadlines of the partitions of Dags by their ids, each with the interval of its alert, which comes after."""
    from airflow.models.deadline_alert import DeadlineAlert
    from airflow.sdk.serde import deserialize

    deadlines: dict[str, list[tuple[DueTime, timedelta]]] = {}
    with open_session() as session:
        serialized = revisions().subquery()
        query = (
            select(serialized.c.dag_id, DeadlineAlert.reference, DeadlineAlert.interval)
            .join(serialized, serialized.c.id == DeadlineAlert.serialized_dag_id)
            .where(serialized.c.dag_id.in_(dag_ids))
            .order_by(DeadlineAlert.id)
        )
        for dag_id, reference, form in session.execute(query):
            if reference.get("reference_type") == PartitionDeadline.__name__:
                interval = deserialize(form)
                later = interval if isinstance(interval, timedelta) else timedelta(0)  # else it is in a Variable
                deadlines.setdefault(dag_id, []).append((DueTime.from_json(reference), later))
    return deadlines
