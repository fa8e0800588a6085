"""What is missing of several assets over one stretch of time: one plan, in which each partition is made once."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import attrs

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.errors import NotReadyError, PartitionError
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset
from airflow_partitions.engine.runs.run_options import RunOptions
from airflow_partitions.operate.requests.materialize import begin
from airflow_partitions.operate.requests.plan import ASKED, Plan, Step, step_of
from airflow_partitions.operate.requests.producer import Producer
from airflow_partitions.operate.requests.request import Request
from airflow_partitions.operate.requests.surroundings import PartitionsOfDags, Surroundings
from airflow_partitions.operate.state import State
from airflow_partitions.operate.states.apart import asked_apart
from airflow_partitions.operate.states.asset_states import AssetStates
from airflow_partitions.operate.states.readings import Readings

log = logging.getLogger(__name__)

#: What is filled where nobody says otherwise.
LACKING = (State.MISSING, State.FAILED, State.WAITING)


@attrs.frozen
class Fill:
    """What fills several assets.

    :ivar plan: upstream first. What follows by events once its upstream is made is not asked for.
    :ivar left_out: why an asset with something to fill is left out, by name.
    """

    plan: Plan
    left_out: Mapping[str, str]


def plan_fill(
    assets: Sequence[PartitionedAsset],
    time_range: TimeRange,
    states: Collection[State],
    options: RunOptions,
    now: datetime,
    dags: Collection[str] | None = None,
) -> Fill:
    """What fills *assets*: their partitions in some *states* that begin in a range of time. Changes nothing.

    A partition is only asked for if all that it needs is there, or made by the same plan; of the others the plan tells
    what is lacking. One asset that can't be asked for leaves the others as they are.

    :param assets: upstream first. Of one without time all partitions are looked at.
    :param options: for the runs.
    :param now: aware.
    :param dags: the only ones that may be asked; all if not given.
    """
    left_out: dict[str, str] = {}
    makers: list[tuple[PartitionedAsset, Producer]] = []
    asked: PartitionsOfDags = {}
    read = _to_fill(assets, time_range, states, now)
    left_out.update((name, _cause(name, each)) for name, each in read.items() if isinstance(each, Exception))
    lacking = {name: each for name, each in read.items() if not isinstance(each, Exception) and each.selection}
    some = [asset for asset in assets if asset.name in lacking]
    for asset, producer in zip(some, Producer.of_each(some), strict=True):
        selection = lacking[asset.name].selection
        try:
            maker = _ready(producer, selection, options, now, dags)
        except PartitionError as error:
            left_out[asset.name] = str(error)
        else:
            makers.append((asset, maker))
            before = asked.get(maker.dag_id)
            asked[maker.dag_id] = selection if before is None else before | selection
    around = Surroundings(makers, now, dags, {name: each.of for name, each in lacking.items()})
    steps = []
    for dag_id in list(asked):
        try:
            steps += _steps(around, dag_id, asked)
        except Exception as error:  # noqa: BLE001 - what is upstream of it may be broken in any way
            del asked[dag_id]  # so that nothing waits for it
            names = [asset.name for asset, producer in makers if producer.dag_id == dag_id]
            left_out.update((name, _cause(name, error)) for name in names)
    return Fill(Plan(tuple(steps), around.lacking), left_out)


def _steps(around: Surroundings, dag_id: str, asked: PartitionsOfDags) -> list[Step]:
    """What a Dag makes of what it is *asked* for, which is no more than that afterwards; none if all of it lacks
    something.

    :param asked: of all Dags; those upstream have been looked at before.
    """
    wanted = asked[dag_id]
    possible = asked[dag_id] = around.complete(dag_id, wanted, asked)
    around.note_lacking(dag_id, wanted - possible, asked)
    begins = around.complete(dag_id, possible - around.follows(dag_id, possible, asked))
    return [step_of(around, dag_id, ASKED, possible, begins)] if possible else []


def begin_fill(
    plan: Plan, options: RunOptions, *, by: str, dry_run: bool
) -> tuple[list[tuple[Request, Producer]], dict[str, str]]:
    """The requests for what begins at once in a *plan*, each with the Dag that makes its partitions; and why one is
    refused, by asset, such as for what somebody else asks for meanwhile. That keeps none of the others from it.

    :param dry_run: keep none of them.
    """
    begun: list[tuple[Request, Producer]] = []
    refused: dict[str, str] = {}
    for step in plan.steps:
        try:
            begun += begin(Plan((step,)), options, by=by, dry_run=dry_run)
        except PartitionError as error:
            refused[step.asset or step.dag_id] = str(error)
    return begun, refused


@attrs.frozen
class _Lacking:
    """What is to be filled of an asset.

    :ivar of: its states, which have been read.
    """

    of: AssetStates
    selection: Selection


def _to_fill(
    assets: Sequence[PartitionedAsset], time_range: TimeRange, states: Collection[State], now: datetime
) -> dict[str, _Lacking | Exception]:
    """The partitions of *assets* in some *states* that begin in a range of time, or why that can't be told, by name."""

    def read(some: Sequence[PartitionedAsset]) -> dict[str, _Lacking | Exception]:
        readings = Readings(some)
        readings.read_times()
        readings.read_ahead(some)
        return {asset.name: to_fill(AssetStates(asset, now, readings=readings)) for asset in some}

    def to_fill(of: AssetStates) -> _Lacking:
        timeless = of.definition.time is None
        stretch = of.everything() if timeless else Selection(of.definition, (Box(time_range),))
        boxes = tuple(each.box for each in of.stretches(stretch) if each.state in states)
        return _Lacking(of, Selection(of.definition, boxes))

    return asked_apart(assets, read, lambda _, error: error)


def _ready(
    producer: Producer | NotReadyError,
    selection: Selection,
    options: RunOptions,
    now: datetime,
    dags: Collection[str] | None,
) -> Producer:
    """The Dag of an asset, which can be asked for a *selection* of its partitions.

    :raises PartitionError: if it can't, or may not, be asked, or there is none.
    """
    if isinstance(producer, NotReadyError):
        raise producer
    if dags is not None and producer.dag_id not in dags:
        raise NotReadyError(f"you may not start runs of Dag {producer.dag_id}, which makes it")
    producer.check_ready(options)
    producer.check_request(selection, now)
    return producer


def _cause(asset: str, error: Exception) -> str:
    """Why an asset can't be filled, in words; whose fault it is stands in the log."""
    log.warning("What is to be filled of asset %r can't be told", asset, exc_info=error)
    return f"what is to be filled can't be told: {type(error).__name__}: {error}"
