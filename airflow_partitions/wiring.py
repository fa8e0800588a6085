"""How the Dags of one file hang together by assets: what can never run is refused when the file is parsed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
from airflow.exceptions import AirflowClusterPolicyViolation
from airflow.sdk import Asset

from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.timetables.condition import Leaf, condition_of, leaves
from airflow_partitions.timetables.hint import published

if TYPE_CHECKING:
    from airflow.sdk import DAG


@attrs.frozen
class Node:
    """A Dag and the names of the assets around it."""

    dag_id: str
    reads: frozenset[str]
    writes: frozenset[str]


_FILES: dict[str, dict[str, Node]] = defaultdict(dict)


def check_wiring(dag: DAG) -> None:
    """Refuse a Dag whose schedule can't work.

    :raises AirflowClusterPolicyViolation: if a Dag without partitions waits for partitions, which never start it, or
        if Dags of one file wait for each other.
    """
    upstreams = _upstreams(dag.timetable)
    if not getattr(dag.timetable, "partitioned", False) and not hasattr(dag.timetable, "adds"):
        for leaf in upstreams:
            if made := published(getattr(leaf, "extra", {})):
                raise AirflowClusterPolicyViolation(
                    f"{dag.dag_id} has no partitions, but asset {leaf.name!r} has ({made.definition!r}): an event of a"
                    f" partition never starts a Dag without. Write schedule=Partitioned({leaf.name}, …), or"
                    " @asset(partition=…), with the partitions to make of it"
                )
    outlets = {asset.name for task in dag.tasks for asset in task.outlets if isinstance(asset, Asset)}
    file = _FILES[dag.fileloc]
    file[dag.dag_id] = Node(dag.dag_id, frozenset(leaf.name for leaf in upstreams), frozenset(outlets))
    if circle := next(_circles(file, dag.dag_id), None):
        raise AirflowClusterPolicyViolation(
            f"{dag.dag_id} waits for itself: {' -> '.join(circle)}; take one of these assets out of the schedule, and"
            " read what was made before as an input instead"
        )


def _upstreams(timetable: Any) -> list[Leaf]:
    """The assets that a timetable waits for, as far as they have names."""
    if getattr(timetable, "upstreams", None) is not None:
        return list(timetable.upstreams.leaves.values())
    condition = condition_of(getattr(timetable, "asset_condition", None))
    try:
        return [] if condition is None else leaves(condition)
    except InvalidDefinitionError:  # aliases and references by URI are told apart when they are resolved
        return []


def _circles(file: Mapping[str, Node], start: str) -> Iterator[list[str]]:
    """Ways from the Dag *start* over assets back to it, each as the names of the assets."""
    ways = [[name] for name in sorted(file[start].writes)]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        for node in file.values():
            if way[-1] not in node.reads:
                continue
            if node.dag_id == start:
                yield [*way, way[0]]
            elif node.dag_id not in seen:
                seen.add(node.dag_id)
                ways += [[*way, name] for name in sorted(node.writes)]
