"""Parse-time checks for Dags that can't work: cycles over assets, consumers without partitions, shared storage, wrong
reads.

They see one file; ``airflow asset-partitions doctor`` sees all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import attrs
from airflow.exceptions import AirflowClusterPolicyViolation
from airflow.sdk import Asset
from airflow.sdk.definitions.asset import AssetNameRef
from airflow.serialization.definitions.assets import SerializedAsset, SerializedAssetNameRef

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.timetables.asset_extra import AssetFrames, frames_of, read_extra
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.engine.timetables.condition import Leaf, condition_of, leaves
from airflow_partitions.engine.timetables.partitioned import Partitioned
from airflow_partitions.engine.timetables.serialized_dag import SerializedDag
from airflow_partitions.frames.frame_type import FrameType, Misfit

if TYPE_CHECKING:
    from airflow.sdk import DAG

# As a Dag file has them, and as a serialized Dag has them; an alias has a name too, but is no asset.
_NAMED = (Asset, AssetNameRef, SerializedAsset, SerializedAssetNameRef)


@attrs.frozen
class DagNode:
    """A Dag, and the names of the assets around it.

    :ivar partitioned: whether it makes partitions.
    :ivar keyed: whether its runs have a key each, which Airflow puts on the events of all that they write.
    :ivar frames: what is stored and read of the assets that it writes, by their names, as far as they say it.
    """

    dag_id: str
    reads: frozenset[str]
    writes: frozenset[str]
    partitioned: bool = True
    keyed: bool = True
    frames: Mapping[str, AssetFrames] = attrs.field(factory=dict, hash=False)

    @property
    def stored(self) -> dict[str, FrameType]:
        """The frames of the assets that it writes, by their names."""
        return {name: frames.stored for name, frames in self.frames.items() if frames.stored is not None}

    @classmethod
    def of(cls, dag: Any) -> DagNode:
        """The node of a *dag* as its file declares it."""
        return cls._of(dag.dag_id, dag.timetable, [outlet for task in dag.tasks for outlet in task.outlets or ()])

    @classmethod
    def serialized(cls, dag: SerializedDag) -> DagNode:
        """The node of a *dag* as it is serialized.

        :raises DeserializationError: if it can't be read.
        """
        return cls._of(dag.dag_id, dag.timetable, dag.outlets)

    @classmethod
    def _of(cls, dag_id: str, timetable: Any, outlets: Iterable[Any]) -> DagNode:
        assets = [outlet for outlet in outlets if isinstance(outlet, _NAMED)]
        return cls(
            dag_id,
            frozenset(leaf.name for leaf in _upstreams(timetable)),
            frozenset(asset.name for asset in assets),
            has_partitions(timetable),
            isinstance(timetable, PartitionTimetable) and timetable.partition is not None,
            {asset.name: frames_of(getattr(asset, "extra", {})) for asset in assets},
        )


@attrs.frozen
class DeadEnd:
    """An asset that runs with a key write, and a Dag without partitions that waits for it."""

    asset: str
    producer: str
    consumer: str

    def __str__(self) -> str:
        return (
            f"{self.consumer} has no partitions, but waits for asset {self.asset!r}, which {self.producer} writes: all"
            f" events of its runs have the run's key, and an event with a key never starts a Dag without partitions."
            f" Start {self.consumer} by TriggerDagRunOperator in {self.producer}, let only Dags without partitions"
            f" write {self.asset!r}, or say in {self.consumer} which partitions to make of it: schedule=Partitioned(…)"
        )


@attrs.frozen
class SharedPath:
    """Two assets that are stored at one path, so that each replaces the partitions of the other."""

    path: str
    one: str
    other: str

    def __str__(self) -> str:
        return (
            f"assets {self.one!r} and {self.other!r} are both stored at {self.path!r}, so each would replace the"
            " partitions of the other; give each a path of its own. Several Dags may make one asset, under one name"
        )


@attrs.frozen
class WrongRead:
    """An asset whose function reads what the producer of another one does not store.

    :ivar reader: the asset that is made from it.
    :ivar input: the parameter of its function.
    :ivar stored: the asset that is stored there.
    """

    reader: str
    input: str
    stored: str
    misfit: Misfit

    def __str__(self) -> str:
        return (
            f"asset {self.reader!r} can't read its input {self.input!r} from what asset {self.stored!r} stores, so what"
            f" one of the two functions is annotated as has to change: {self.misfit}"
        )


@attrs.frozen
class Cycle:
    """Dags that wait for each other, so that none of their partitions is ever made, or all of them without end.

    :ivar steps: each Dag with an asset of it that the next one waits for, the first one after the last.
    """

    steps: tuple[tuple[str, str], ...]

    def __contains__(self, dag_id: object) -> bool:
        return any(dag_id == member for member, _ in self.steps)

    def __str__(self) -> str:
        first = self.steps[0][0]
        waits = ", which waits for ".join(f"asset {asset!r} of {dag_id}" for dag_id, asset in reversed(self.steps))
        return (
            f"{first} waits for itself: {first} waits for {waits}; take one of these assets out of the schedule, and"
            " read what was made before as an input instead"
        )


_FILES: dict[str, dict[str, DagNode]] = defaultdict(dict)


def check_schedule(dag: DAG) -> None:
    """Refuse a Dag whose schedule can't work.

    :raises AirflowClusterPolicyViolation: if a Dag without partitions waits for what is written with a key only, which
        never starts it, if Dags of one file wait for each other, or if two assets of one file share a path or can't
        read each other.
    """
    upstreams = _upstreams(dag.timetable)
    if not has_partitions(dag.timetable):
        for leaf in upstreams:
            if partitions := read_extra(getattr(leaf, "extra", {})):
                raise AirflowClusterPolicyViolation(
                    f"{dag.dag_id} has no partitions, but asset {leaf.name!r} has ({partitions.definition!r}): an event"
                    f" of a partition never starts a Dag without. Write schedule=Partitioned({leaf.name}, …), or"
                    " @asset(partition=…), with the partitions to make of it"
                )
    file = _FILES[dag.fileloc]
    file[dag.dag_id] = DagNode.of(dag)
    if cycle := next((cycle for cycle in cycles(file) if dag.dag_id in cycle), None):
        raise AirflowClusterPolicyViolation(str(cycle))
    names = file[dag.dag_id].frames.keys()
    if shared := next((shared for shared in shared_paths(file) if names & {shared.one, shared.other}), None):
        raise AirflowClusterPolicyViolation(str(shared))
    if wrong := next((wrong for wrong in wrong_reads(file) if names & {wrong.reader, wrong.stored}), None):
        raise AirflowClusterPolicyViolation(str(wrong))
    if dead_end := next((end for end in dead_ends(file) if dag.dag_id in (end.producer, end.consumer)), None):
        raise AirflowClusterPolicyViolation(str(dead_end))


def has_partitions(timetable: Any) -> bool:
    """Whether the Dag of a *timetable* makes partitions; only the others are started by events without a key."""
    return isinstance(timetable, PartitionTimetable) or bool(getattr(timetable, "partitioned", False))


def dead_ends(nodes: Mapping[str, DagNode]) -> Iterator[DeadEnd]:
    """Dead ends among the Dags *nodes*, by their ids."""
    keyed = {name: node.dag_id for node in nodes.values() if node.keyed for name in node.writes}
    for node in nodes.values():
        if not node.partitioned:
            for name in sorted(node.reads & keyed.keys()):
                yield DeadEnd(name, keyed[name], node.dag_id)


def shared_paths(nodes: Mapping[str, DagNode]) -> Iterator[SharedPath]:
    """Paths that two assets written by the Dags *nodes* share."""
    stored = sorted({(frame.path, name) for node in nodes.values() for name, frame in node.stored.items()})
    for (path, one), (other_path, other) in pairwise(stored):
        if path == other_path:
            yield SharedPath(path, one, other)


def wrong_reads(nodes: Mapping[str, DagNode]) -> Iterator[WrongRead]:
    """What assets written by the Dags *nodes* can't read of each other; the first reason for each input."""
    stored: dict[str, dict[str, FrameType]] = defaultdict(dict)
    for node in nodes.values():
        for name, frame in node.stored.items():
            stored[frame.path][name] = frame
    readers = {name: frames.inputs for node in nodes.values() for name, frames in node.frames.items()}
    for reader, inputs in sorted(readers.items()):
        for name, read in inputs.items():
            for asset, frame in stored.get(read.path, {}).items():
                if (misfit := frame.misfit(read.columns, read.format)) is not None:
                    yield WrongRead(reader, name, asset, misfit)


def cycles(nodes: Mapping[str, DagNode]) -> Iterator[Cycle]:
    """Cycles among the Dags *nodes* that have partitions, by their ids; no Dag is in two of them."""
    left = {dag_id: node for dag_id, node in sorted(nodes.items()) if node.partitioned}
    while True:
        writers: dict[str, set[str]] = defaultdict(set)
        for node in left.values():
            for name in node.writes:
                writers[name].add(node.dag_id)
        before = {
            node.dag_id: sorted({dag_id for name in node.reads for dag_id in writers[name]}) for node in left.values()
        }
        try:
            TopologicalSorter(before).prepare()
        except CycleError as error:
            members: list[str] = error.args[1]
            yield Cycle(tuple((one, min(left[one].writes & left[other].reads)) for one, other in pairwise(members)))
            left = {dag_id: node for dag_id, node in left.items() if dag_id not in members}
        else:
            return


def _upstreams(timetable: Any) -> list[Leaf]:
    """The assets that a timetable waits for, as far as they have names."""
    if isinstance(timetable, Partitioned) and timetable.upstreams is not None:
        return list(timetable.upstreams.leaves.values())
    condition = condition_of(getattr(timetable, "asset_condition", None))
    try:
        return [] if condition is None else leaves(condition)
    except InvalidDefinitionError:  # aliases and references by URI are told apart when they are resolved
        return []
