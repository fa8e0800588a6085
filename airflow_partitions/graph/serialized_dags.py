"""The serialized Dags of an Airflow, as far as they have partitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

import attrs
from airflow.exceptions import DeserializationError
from airflow.timetables.base import Timetable, compute_rollup_fingerprint
from sqlalchemy import select

from airflow_partitions.definitions import PartitionDefinition
from airflow_partitions.dependencies import KeyFormat
from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.graph.cycles import DagNode, cycles, dead_ends, shared_paths, wrong_reads
from airflow_partitions.history.database import session
from airflow_partitions.timetables import Partitioned
from airflow_partitions.timetables.base import PartitionTimetable
from airflow_partitions.timetables.upstreams import remember_producers


@attrs.frozen
class SerializedDags:
    """The partitioned Dags of an Airflow, as they are serialized now.

    :ivar consumers: Dags scheduled on assets that are not paused, by id.
    :ivar definitions: of the keys of each asset's events, by its name.
    :ivar makes: names of the assets that each Dag makes, by its id.
    :ivar paths: where Spark assets are stored, by their names.
    :ivar tables: JSON forms of the tables that are to be kept small, by the names of the assets they are of.
    :ivar problems: reasons why Dags can never run, each as a sentence.
    """

    consumers: Mapping[str, Partitioned]
    definitions: Mapping[str, PartitionDefinition | KeyFormat]
    makes: Mapping[str, frozenset[str]]
    paths: Mapping[str, str]
    tables: Mapping[str, Mapping[str, Any]]
    problems: tuple[str, ...]

    def definition(self, asset: str) -> PartitionDefinition | KeyFormat:
        """Definition of the keys of an asset's events.

        :raises InvalidDefinitionError: if no Dag has one; the nearest names are in the message.
        """
        if asset in self.definitions:
            return self.definitions[asset]
        hint = nearest_asset(asset, self.definitions, self.makes)
        raise InvalidDefinitionError(f"no Dag makes or waits for partitions of an asset {asset!r}; {hint}")


def nearest_asset(name: str, assets: Collection[str], makes: Mapping[str, Collection[str]]) -> str:
    """Words on which of the *assets* may be meant by *name*: those that a Dag of that id makes, or close names.

    :param makes: names of the assets that each Dag makes, by its id.
    """
    if own_assets := sorted(set(makes.get(name, ())) & set(assets)):
        return f"{name!r} is the Dag that makes {', '.join(map(repr, own_assets))}"
    if near := get_close_matches(name, assets):
        return f"nearest: {', '.join(near)}"
    return (
        f"there are: {', '.join(sorted(assets)[:10])}{', …' if len(assets) > 10 else ''}" if assets else "there is none"
    )


def read_serialized_dags() -> SerializedDags:
    """Read the partitioned Dags of this Airflow."""
    from airflow.models.dag import DagModel
    from airflow.models.serialized_dag import SerializedDagModel

    query = select(DagModel.dag_id, DagModel.is_paused).where(DagModel.is_stale.is_(False))
    consumers: dict[str, Partitioned] = {}
    definitions: dict[str, PartitionDefinition | KeyFormat] = {}
    nodes: dict[str, DagNode] = {}
    producers: dict[str, list[Timetable]] = defaultdict(list)
    problems: list[str] = []
    with session() as at:
        paused: dict[str, bool] = {row.dag_id: row.is_paused for row in at.execute(query)}
        for row in SerializedDagModel.get_latest_serialized_dags(dag_ids=list(paused), session=at) if paused else []:
            try:
                dag = row.dag  # reads all of it, each time
            except DeserializationError as error:
                problems.append(f"Dag {row.dag_id!r} can't be read: {error.__cause__ or error}")
                continue
            timetable: Any = dag.timetable
            nodes[row.dag_id] = DagNode.of(dag)
            if isinstance(timetable, Partitioned) and timetable.upstreams is not None:
                consumers[row.dag_id] = timetable
            for asset in nodes[row.dag_id].writes:
                producers[asset].append(timetable)
            if isinstance(timetable, PartitionTimetable):
                definitions.update(dict.fromkeys(nodes[row.dag_id].writes, timetable.produces.definition))
    remember_producers(producers)
    problems += map(str, (*cycles(nodes), *dead_ends(nodes), *shared_paths(nodes), *wrong_reads(nodes)))
    for dag_id in sorted(consumers, key=lambda dag_id: paused[dag_id]):
        if (upstreams := consumers[dag_id].upstreams) is None:
            continue
        for name in upstreams.leaves:
            try:
                member = upstreams.member(name)
            except InvalidDefinitionError as error:
                problems.append(f"Dag {dag_id!r}: {error}")
            else:
                definitions.setdefault(name, member.key_format or member.definition)
    active = {dag_id: consumer for dag_id, consumer in consumers.items() if not paused[dag_id]}
    makes = {dag_id: node.writes for dag_id, node in nodes.items()}
    paths = {name: frame.path for node in nodes.values() for name, frame in node.stored.items()}
    frames = {name: frames for node in nodes.values() for name, frames in node.frames.items()}
    tables = {name: each.storage for name, each in frames.items() if each.storage is not None and each.maintained}
    return SerializedDags(active, definitions, makes, paths, tables, tuple(problems))


def fingerprint(timetable: Partitioned) -> dict[str, Any]:
    """The form by which Airflow sees whether a consumer waits for something else now.

    :raises InvalidDefinitionError: if an upstream can't be found.
    """
    prints: dict[str, Any] = compute_rollup_fingerprint(timetable)
    return prints
