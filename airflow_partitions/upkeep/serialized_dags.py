"""The Dags that wait for partitions of assets, and the assets whose partitions are known."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
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
from airflow_partitions.timetables.cycles import Node, circles


@attrs.frozen
class Wired:
    """The partitioned Dags of an Airflow, as they are serialized now.

    :ivar consumers: Dags scheduled on assets that are not paused, by id.
    :ivar definitions: what the keys of each asset's events mean, by its name.
    :ivar problems: what can never run, each as a sentence.
    """

    consumers: Mapping[str, Partitioned]
    definitions: Mapping[str, PartitionDefinition | Foreign]
    problems: tuple[str, ...]

    def definition(self, asset: str) -> PartitionDefinition | Foreign:
        """What the keys of an asset's events mean.

        :raises InvalidDefinitionError: if no Dag says so; the nearest names are in the message.
        """
        if asset in self.definitions:
            return self.definitions[asset]
        near = get_close_matches(asset, self.definitions) or sorted(self.definitions)[:5]
        raise InvalidDefinitionError(
            f"no Dag makes or waits for partitions of an asset {asset!r}; nearest: {', '.join(near) or '(none)'}"
        )


def wired() -> Wired:
    """Read the partitioned Dags of this Airflow."""
    from airflow.models.dag import DagModel
    from airflow.models.serialized_dag import SerializedDagModel

    query = select(DagModel.dag_id, DagModel.is_paused).where(DagModel.is_stale.is_(False))
    consumers: dict[str, Partitioned] = {}
    definitions: dict[str, PartitionDefinition | Foreign] = {}
    nodes: dict[str, Node] = {}
    problems: list[str] = []
    with session() as at:
        paused: dict[str, bool] = {row.dag_id: row.is_paused for row in at.execute(query)}
        for row in SerializedDagModel.get_latest_serialized_dags(dag_ids=list(paused), session=at) if paused else []:
            try:
                timetable: Any = row.dag.timetable
            except DeserializationError as error:
                problems.append(f"Dag {row.dag_id!r} can't be read: {error.__cause__ or error}")
                continue
            nodes[row.dag_id] = Node.of(row.dag)
            if isinstance(timetable, Partitioned) and timetable.upstreams is not None:
                consumers[row.dag_id] = timetable
            if getattr(timetable, "makes", None) is not None:
                definitions.update(dict.fromkeys(nodes[row.dag_id].writes, timetable.makes.definition))
    problems += map(str, circles(nodes))
    for dag_id in sorted(consumers, key=lambda dag_id: paused[dag_id]):
        if (upstreams := consumers[dag_id].upstreams) is None:
            continue
        for name in upstreams.leaves:
            try:
                member = upstreams.member(name)
            except InvalidDefinitionError as error:
                problems.append(f"Dag {dag_id!r}: {error}")
            else:
                definitions.setdefault(name, member.foreign or member.definition)
    working = {dag_id: consumer for dag_id, consumer in consumers.items() if not paused[dag_id]}
    return Wired(working, definitions, tuple(problems))


def fingerprint(timetable: Partitioned) -> dict[str, Any]:
    """What Airflow compares to tell whether a consumer waits for something else now.

    :raises InvalidDefinitionError: if an upstream can't be found.
    """
    found: dict[str, Any] = compute_rollup_fingerprint(timetable)
    return found
