"""The serialized Dags of an Airflow, as far as they have partitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from typing import Any

import attrs
from airflow.exceptions import DeserializationError
from airflow.timetables.base import Timetable, compute_rollup_fingerprint

from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionDefinition
from airflow_partitions.core.dependencies import KeyFormat
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.database.connection import open_connection
from airflow_partitions.engine.graph.absent_dags import WRITTEN_ANEW
from airflow_partitions.engine.graph.cycles import DagNode, cycles, dead_ends, shared_paths, wrong_reads
from airflow_partitions.engine.ledger.key_table import listed_keys
from airflow_partitions.engine.ledger.scheduling_state import is_active
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.engine.timetables.serialized_dag import (
    Revision,
    SerializedDag,
    read_timetable,
    revisions,
    serialized_dags,
)
from airflow_partitions.engine.timetables.upstreams import remember_producers


@attrs.frozen
class SerializedDags:
    """The partitioned Dags of an Airflow, as they are serialized now.

    :ivar consumers: Dags scheduled on assets that are not paused, by id.
    :ivar definitions: of the keys of each asset's events, by its name.
    :ivar makes: names of the assets that each Dag makes, by its id.
    :ivar paths: where Spark assets are stored, by their names.
    :ivar storages: JSON forms of the datasets that assets are stored in, by their names, as far as Dags say them.
    :ivar connections: ids of the Dags whose tasks name a connection of Airflow, by the id of the connection.
    :ivar tables: JSON forms of the tables that are to be kept small, by the names of the assets they are of.
    :ivar problems: reasons why Dags can never run, each as a sentence.
    :ivar producers: timetables of the Dags that write each asset, by its name.
    """

    consumers: Mapping[str, Partitioned]
    definitions: Mapping[str, PartitionDefinition | KeyFormat]
    makes: Mapping[str, frozenset[str]]
    paths: Mapping[str, str]
    tables: Mapping[str, Mapping[str, Any]]
    problems: tuple[str, ...]
    producers: Mapping[str, Sequence[Timetable]] = attrs.field(factory=dict, eq=False, repr=False)
    storages: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    connections: Mapping[str, Sequence[str]] = attrs.field(factory=dict)
    _fingerprints: dict[str, Mapping[str, Any]] = attrs.field(factory=dict, repr=False)

    @property
    def lists(self) -> set[PartitionAtRuntime]:
        """The definitions by whose lists it is known which combinations of the partitions of these Dags exist."""
        timetables = chain(self.consumers.values(), *self.producers.values())
        return {one for each in timetables if isinstance(each, PartitionTimetable) for one in each.lists}

    def anew(self) -> SerializedDags:
        """The same, for evaluations of another moment."""
        consumers = {dag_id: timetable.anew() for dag_id, timetable in self.consumers.items()}
        return attrs.evolve(self, consumers=consumers)

    def fingerprint(self, dag_id: str) -> Mapping[str, Any]:
        """The form by which Airflow sees whether a consumer waits for something else now.

        :raises InvalidDefinitionError: if an upstream can't be found.
        """
        if dag_id not in self._fingerprints:
            self._fingerprints[dag_id] = fingerprint(self.consumers[dag_id])
        return self._fingerprints[dag_id]

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


class SerializedDagReader:
    """Reads the partitioned Dags of this Airflow again and again; of a Dag that is as before nothing is read."""

    def __init__(self) -> None:
        self._dags: dict[Revision, _DagRead] = {}
        self._paused: dict[str, bool] = {}
        self._read: SerializedDags | None = None
        self._listed: dict[PartitionAtRuntime, frozenset[str] | None] = {}

    def read(self) -> SerializedDags:
        """The Dags as they are now, for evaluations of this moment."""
        from airflow.models.dag import DagModel
        from airflow.models.serialized_dag import SerializedDagModel

        query = revisions().add_columns(~is_active()).join(DagModel, DagModel.dag_id == SerializedDagModel.dag_id)
        with open_connection() as connection:
            paused = {
                Revision(*row[:-1]): row[-1] for row in connection.execute(query.where(DagModel.is_stale.is_(False)))
            }
        is_as_before = paused.keys() == self._dags.keys()
        if not is_as_before:
            changed = {dag_id for dag_id, *_ in paused.keys() - self._dags.keys()}
            read = {dag.dag_id: _DagRead.of(dag) for dag in serialized_dags(changed)}
            kept = {revision: self._dags.get(revision) or read.get(revision.dag_id) for revision in sorted(paused)}
            self._dags = {revision: dag for revision, dag in kept.items() if dag is not None}
        by_id = {revision.dag_id: is_paused for revision, is_paused in paused.items()}
        listed = {definition: frozenset(listed_keys(definition)) for definition in self._listed}
        if self._read is None or not is_as_before or by_id != self._paused or listed != self._listed:
            self._read, self._paused = _assembled(list(self._dags.values()), by_id), by_id
            self._listed = {definition: listed.get(definition) for definition in self._read.lists}
        else:
            self._read = self._read.anew()
        remember_producers(self._read.producers)
        return self._read


def read_serialized_dags() -> SerializedDags:
    """Read the partitioned Dags of this Airflow."""
    return SerializedDagReader().read()


@attrs.frozen
class _DagRead:
    """What is kept of a Dag: a timetable remembers what it has looked up, so its form is kept instead.

    :ivar problem: why it can't be read.
    """

    dag_id: str
    timetable_form: Any = None
    node: DagNode | None = None
    problem: str | None = None
    connections: frozenset[str] = frozenset()

    @classmethod
    def of(cls, dag: SerializedDag) -> _DagRead:
        try:
            node = DagNode.serialized(dag)
        except DeserializationError as error:
            reason = error.__cause__ or error
            return cls(dag.dag_id, problem=f"Dag {dag.dag_id!r} can't be read: {reason}; {WRITTEN_ANEW}")
        connections = dag.connections if node.partitioned else frozenset[str]()
        return cls(dag.dag_id, dag.timetable_form, node, connections=connections)


def _assembled(dags: Collection[_DagRead], paused: Mapping[str, bool]) -> SerializedDags:
    """What *dags* are together."""
    consumers: dict[str, Partitioned] = {}
    definitions: dict[str, PartitionDefinition | KeyFormat] = {}
    nodes: dict[str, DagNode] = {}
    producers: dict[str, list[Timetable]] = defaultdict(list)
    problems: list[str] = []
    connections: dict[str, list[str]] = defaultdict(list)
    for dag in dags:
        for conn_id in sorted(dag.connections):
            connections[conn_id].append(dag.dag_id)
        if dag.node is None:
            problems.append(str(dag.problem))
            continue
        timetable = read_timetable(dag.timetable_form)
        nodes[dag.dag_id] = dag.node
        if isinstance(timetable, Partitioned) and timetable.upstreams is not None:
            consumers[dag.dag_id] = timetable
        for asset in dag.node.writes:
            producers[asset].append(timetable)
        if isinstance(timetable, PartitionTimetable):
            definitions.update(dict.fromkeys(dag.node.writes, timetable.produces.definition))
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
    storages = {name: each.storage for name, each in frames.items() if each.storage is not None}
    tables = {name: storage for name, storage in storages.items() if frames[name].maintained}
    return SerializedDags(active, definitions, makes, paths, tables, tuple(problems), producers, storages, connections)


def fingerprint(timetable: Partitioned) -> dict[str, Any]:
    """The form by which Airflow sees whether a consumer waits for something else now.

    :raises InvalidDefinitionError: if an upstream can't be found.
    """
    prints: dict[str, Any] = compute_rollup_fingerprint(timetable)
    return prints
