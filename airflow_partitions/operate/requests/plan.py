"""Plans: which partitions a request would make, of which assets, in which order, and what that takes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

from airflow_partitions.core.dependencies import Selection, selection_text
from airflow_partitions.core.errors import RequestSizeError
from airflow_partitions.engine.batches.size import size_of
from airflow_partitions.engine.database.connection import open_connection
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.engine.timetables.limits import ValueLimits
from airflow_partitions.operate.requests.costs import Cost, recent_cost
from airflow_partitions.operate.requests.producer import Producer
from airflow_partitions.operate.requests.surroundings import Surroundings
from airflow_partitions.operate.states import State
from airflow_partitions.operate.states.asset_states import AssetStates

ASKED, UPSTREAM, DOWNSTREAM = "asked", "upstream", "downstream"


@attrs.frozen
class Step:
    """What one Dag makes in a plan.

    :ivar asset: that its partitions are of; ``None`` if it makes none.
    :ivar role: ``asked`` for what was asked for, ``upstream`` or ``downstream`` of it.
    :ivar selection: partitions that it makes.
    :ivar begins: those of them for which a run is asked for at once. The others follow by themselves, by events, when
        what they need has been made.
    :ivar stays: partitions that are stale afterwards, since the Dag's ``rerun`` does not make them again.
    :ivar again: how many of them were materialized before.
    :ivar batch: the most partitions that a task makes, as the Dag says or as its batches are now.
    :ivar limits: how many runs of one value are at work at a time, by dimension.
    :ivar producer: the Dag, if it can be asked.
    """

    asset: str | None
    dag_id: str
    role: str
    selection: Selection
    begins: Selection
    stays: Selection
    again: int
    cost: Cost
    batch: int = 1
    limits: Mapping[str, int] = attrs.field(factory=dict)
    producer: Producer | None = attrs.field(default=None, eq=False, repr=False)

    def to_json(self) -> dict[str, Any]:
        """JSON form; seconds and bytes are of all its partitions, the seconds one after the other."""
        count = len(self.selection)
        return {
            "asset": self.asset,
            "dag_id": self.dag_id,
            "role": self.role,
            "partitions": count,
            "selection": selection_text(self.selection),
            "begins": selection_text(self.begins),
            "begin": len(self.begins),
            "stays": selection_text(self.stays),
            "again": self.again,
            "batch": self.batch,
            "tasks": -(-count // self.batch),
            "limits": dict(self.limits),
            "seconds": None if self.cost.seconds is None else round(count * self.cost.seconds, 1),
            "bytes": None if self.cost.bytes is None else count * self.cost.bytes,
        }


@attrs.frozen
class Plan:
    """What a request would do.

    :ivar steps: upstream first.
    :ivar lacking: upstream partitions that are needed, are not there, and that no Dag makes when it is asked, by asset.
    """

    steps: tuple[Step, ...]
    lacking: Mapping[str, Selection] = attrs.field(factory=dict)

    @property
    def asked(self) -> Step:
        """The step of what was asked for."""
        return next(step for step in self.steps if step.role == ASKED)

    def to_json(self) -> dict[str, Any]:
        """JSON form."""
        steps = [step.to_json() for step in self.steps]
        return {
            "steps": steps,
            "partitions": sum(step["partitions"] for step in steps),
            "seconds": _total(step["seconds"] for step in steps),
            "bytes": _total(step["bytes"] for step in steps),
            "lacking": {asset: selection_text(selection) for asset, selection in self.lacking.items()},
        }


def plan(
    asset: PartitionedAsset,
    selection: Selection,
    *,
    states: Collection[State] = (),
    upstream: bool = False,
    downstream: bool = False,
    dags: Collection[str] | None = None,
    now: datetime | None = None,
) -> Plan:
    """What a request for partitions of *asset* would do; changes nothing.

    :param states: only those that are in one of these now; by default all.
    :param upstream: what they need and is missing is made first.
    :param downstream: tell also what is made again because of it: events do that, whether it is asked for or not.
    :param dags: the only other Dags that are looked at; all if not given. Upstream partitions of others are lacking.
    :param now: aware; the default is the moment.
    :raises RequestSizeError: if nothing is selected, or nothing in these states, or too much.
    :raises InvalidKeyError: for a partition whose interval is not over.
    :raises NotReadyError: if no Dag makes it when it is asked.
    :raises InvalidDefinitionError: if airflow.cfg lacks a limit that a Dag names.
    """
    now = datetime.now(UTC) if now is None else now
    producer = Producer.of(asset)
    around = Surroundings([(asset, producer)], now, dags)
    if states:
        selection = _in_states(around.states(asset.name), selection, states)
    producer.check_request(selection, now)
    dag_id, steps = producer.dag_id, []
    first = around.upstream(dag_id, selection) if upstream else {}
    for each, partitions in first.items():
        begins = around.complete(each, partitions - around.follows(each, partitions, first))
        steps.append(step_of(around, each, UPSTREAM, partitions, begins))
    begins = selection - around.follows(dag_id, selection, first)
    steps.append(step_of(around, dag_id, ASKED, selection, begins))
    for each, partitions in around.downstream(dag_id, selection).items() if downstream else ():
        steps.append(step_of(around, each, DOWNSTREAM, partitions, Selection(partitions.definition)))
    return Plan(tuple(steps), around.lacking)


def step_of(around: Surroundings, dag_id: str, role: str, partitions: Selection, begins: Selection) -> Step:
    """What a Dag makes in a plan, with what is known of it.

    :param begins: those for which a run is asked for at once.
    """
    name = around.outlet(dag_id)
    again = 0 if name is None else around.number_there(name, partitions)
    cost = Cost() if name is None else recent_cost(around.states(name), dag_id)
    stays = around.stays.get(dag_id, Selection(partitions.definition))
    producer = around.producer_of(dag_id)
    batch, limits = _batch(dag_id, producer), _limits(producer)
    return Step(name, dag_id, role, partitions, begins, stays, again, cost, batch, limits, producer)


def _limits(producer: Producer | None) -> dict[str, int]:
    limits = None if producer is None else ValueLimits.of(producer.timetable)
    return {} if limits is None else {dimension: most for dimension, (_, most) in limits.most.items()}


def _batch(dag_id: str, producer: Producer | None) -> int:
    if producer is None or producer.timetable.batch == 1:
        return 1
    with open_connection() as connection:
        return size_of(connection, dag_id, producer.timetable.batch)


def _in_states(of: AssetStates, selection: Selection, states: Collection[State]) -> Selection:
    stretches = [each for each in of.stretches(selection) if each.state in states]
    if not stretches:
        raise RequestSizeError(
            f"none of the {len(selection):,} selected partitions is {' or '.join(states)}; ask for other states, or for"
            " all of them"
        )
    return Selection(selection.definition, tuple(stretch.box for stretch in stretches))


def _total(numbers: Iterable[float | None]) -> float | None:
    """The sum of those that are known."""
    terms = [number for number in numbers if number is not None]
    return round(sum(terms), 1) if terms else None
