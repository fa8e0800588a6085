"""The Dags that wait for partitions of assets, and the assets whose partitions are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from airflow.exceptions import DeserializationError
from airflow.timetables.base import compute_rollup_fingerprint
from sqlalchemy import select

from airflow_partitions.definitions import PartitionDefinition
from airflow_partitions.dependencies import Foreign
from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.history.database import session
from airflow_partitions.timetables import Partitioned


@attrs.frozen
class Wired:
    """The partitioned Dags of an Airflow, as they are serialized now.

    :ivar consumers: Dags scheduled on assets that are not paused, by id.
    :ivar paused: those that are.
    :ivar definitions: what the keys of each asset's events mean, by its name.
    :ivar unreadable: why a Dag could not be read, by its id.
    """

    consumers: Mapping[str, Partitioned]
    paused: Mapping[str, Partitioned]
    definitions: Mapping[str, PartitionDefinition | Foreign]
    unreadable: Mapping[str, str]


def wired() -> Wired:
    """Read the partitioned Dags of this Airflow."""
    from airflow.models.dag import DagModel
    from airflow.models.serialized_dag import SerializedDagModel

    query = select(DagModel.dag_id, DagModel.is_paused).where(DagModel.is_stale.is_(False))
    consumers: dict[bool, dict[str, Partitioned]] = {True: {}, False: {}}
    definitions: dict[str, PartitionDefinition | Foreign] = {}
    unreadable: dict[str, str] = {}
    with session() as at:
        paused: dict[str, bool] = {row.dag_id: row.is_paused for row in at.execute(query)}
        for row in SerializedDagModel.get_latest_serialized_dags(dag_ids=list(paused), session=at) if paused else []:
            try:
                timetable: Any = row.dag.timetable
            except DeserializationError as error:
                unreadable[row.dag_id] = str(error.__cause__ or error)
                continue
            if not hasattr(timetable, "makes"):
                continue
            if isinstance(timetable, Partitioned) and timetable.upstreams is not None:
                consumers[paused[row.dag_id]][row.dag_id] = timetable
            if timetable.makes is not None:
                definitions.update(dict.fromkeys(_outlets(row.dag), timetable.makes.definition))
    for timetable in (*consumers[False].values(), *consumers[True].values()):
        for name, definition in _declared(timetable):
            definitions.setdefault(name, definition)
    return Wired(consumers[False], consumers[True], definitions, unreadable)


def fingerprint(timetable: Partitioned) -> dict[str, Any]:
    """What Airflow compares to tell whether a consumer waits for something else now.

    :raises InvalidDefinitionError: if an upstream can't be found.
    """
    found: dict[str, Any] = compute_rollup_fingerprint(timetable)
    return found


def _outlets(dag: Any) -> Iterator[str]:
    for task in dag.tasks:
        for outlet in task.outlets or ():
            if name := getattr(outlet, "name", None):
                yield name


def _declared(timetable: Partitioned) -> Iterator[tuple[str, PartitionDefinition | Foreign]]:
    """What a consumer says of assets that nobody here makes."""
    if timetable.upstreams is None:
        return
    for name in timetable.upstreams.leaves:
        try:
            member = timetable.upstreams.member(name)
        except InvalidDefinitionError:  # nobody makes it: the consumer's own Dag page says so when an event comes
            continue
        yield name, member.foreign or member.definition
