"""The timetable of partitioned Dags."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self

from airflow.exceptions import InvalidPartitionKeyError
from airflow.sdk import get_parsing_context
from airflow.timetables.base import DagRunInfo, PartitionMapperInfo
from pendulum import DateTime, instance

from airflow_partitions.core.calendars.instants import instant, utc
from airflow_partitions.core.calendars.zones import zone
from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionDefinition, from_json
from airflow_partitions.core.definitions.definition import check_definition
from airflow_partitions.core.dependencies import KeyFormat, Rule
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError, NotMigratedError
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions, write_extra
from airflow_partitions.engine.timetables.base import AUTO, MOST_IN_BATCH, PartitionTimetable
from airflow_partitions.engine.timetables.condition import AnyEvent, condition_of
from airflow_partitions.engine.timetables.evaluation import Evaluation, Evaluator
from airflow_partitions.engine.timetables.last_scheduled import last_scheduled
from airflow_partitions.engine.timetables.limits import check_limits
from airflow_partitions.engine.timetables.listed import as_listed
from airflow_partitions.engine.timetables.manual_key import manual_key, unknown_key
from airflow_partitions.engine.timetables.mapper import mappers_of
from airflow_partitions.engine.timetables.own_past import own_past
from airflow_partitions.engine.timetables.partition_date import PartitionDates
from airflow_partitions.engine.timetables.run_id import run_id_text
from airflow_partitions.engine.timetables.run_order import RunOrder, RunPosition
from airflow_partitions.engine.timetables.run_policy import AtLeast, BeginTime, RunPolicy, Within
from airflow_partitions.engine.timetables.ticks import ticks_for
from airflow_partitions.engine.timetables.upstreams import Upstreams, check_schedulable

if TYPE_CHECKING:
    from airflow.models.dag import DagModel
    from airflow.models.dagrun import DagRun
    from airflow.partition_mappers.base import PartitionMapper
    from airflow.timetables.base import DataInterval, TimeRestriction
    from airflow.utils.types import DagRunType

log = logging.getLogger(__name__)

_NEVER = instance(utc(0))  # stands for "no scheduled run yet", where Airflow wants a run


class Partitioned(PartitionTimetable):
    """One Dag run per partition that a tick of *schedule* makes due.

    .. code-block:: python

        with DAG("flights", schedule=Partitioned("@daily", PartitionByInterval("@hourly"), asset=flights)):
            ...

    At tick T, after the previous tick P, every interval with ``P < end <= T`` is due, with all segments; without a time
    dimension every segment is. Runs of one tick follow each other; an unfinished tick is finished before the next.
    After a pause only the newest tick that makes something due counts; older ones are a backfill.

    The place of a run in this order is its ``run_after``: the tick plus one microsecond for each run before it.

    With upstream assets as *schedule* there are no ticks: a partition is made when every upstream partition that
    overlaps it has been materialized, at any time, and none of them is being made again.

    :param schedule: a preset or cron, read in the partition's zone; a timedelta; another timetable, which keeps its
        zone; ``None`` for manual runs and backfills only; or upstream assets, joined by ``&`` and ``|``.
    :param partition: definition of the partitions that the Dag makes.
    :param asset: the asset they are partitions of, among the ``outlets`` of the task that completes one; the definition
        is published in its ``extra``.
    :param refresh: make this many intervals before the due ones again.
    :param allow_open: accept manual runs for an interval that is not over.
    :param upstreams: definitions of upstream assets by name, for those that publish none.
    :param rules: instead of overlap, by name of the upstream asset: ``Lookback(n)``, ``Window(before, after)``, ….
    :param wait: ``AtLeast(n)`` to begin when *n* partitions of every upstream are there, and once more when all are.
    :param rerun: when an upstream partition changes later: ``"always"`` make the partition again,
        ``"never"``, or ``Within("7d", settle="30min")``.
    :param max_wait: time after which an upstream run at work is waited for no longer.
    :param at: with assets as *schedule*, no run begins by itself before this: a time of day in the partition's zone,
        such as ``"06:00"``, the first after the end of its interval, or so long after that end.
    :param past: a partition needs so many before it of the Dag's own assets, along time, as far as the definition goes
        back; the partitions are made in order.
    :param batch: the most partitions that one task makes, its own run's and those of runs that are queued; ``"auto"``
        for as many as take a minute. Each run keeps its state, note and event.
    :param limits: how many runs of one value of a dimension are at work at a time, by dimension, such as
        ``{"customer": 1}``; or the name of a limit that several Dags share, in ``[asset_partitions] limits`` of
        airflow.cfg. The others are queued meanwhile.

    Override :meth:`due` in a subclass, registered in the ``timetables`` of an Airflow plugin, to choose the keys of a
    tick in another way.
    """

    partitioned = True
    run_ordering = ("partition_date", "run_after")

    def __init__(
        self,
        schedule: Any,
        partition: PartitionDefinition,
        *,
        asset: Any = None,
        refresh: int = 0,
        allow_open: bool = False,
        upstreams: Mapping[str, PartitionDefinition | KeyFormat] | None = None,
        rules: Mapping[str, Rule] | None = None,
        wait: AtLeast | None = None,
        rerun: str | Within = "always",
        max_wait: str | timedelta = timedelta(days=1),
        at: BeginTime | None = None,
        past: int = 0,
        batch: int | str = 1,
        limits: Mapping[str, int | str] | None = None,
    ) -> None:
        self._dag_id: str | None = None
        check_definition(partition)
        if not isinstance(refresh, int) or refresh < 0 or (refresh and partition.time is None):
            raise InvalidDefinitionError(
                f"refresh={refresh!r} with {partition!r}; expected a number of intervals, with a time dimension"
            )
        if batch != AUTO and (type(batch) is not int or not 1 <= batch <= MOST_IN_BATCH):
            raise InvalidDefinitionError(
                f"batch={batch!r}; expected the most partitions that one task makes, from 1 to {MOST_IN_BATCH:,}, or"
                f" {AUTO!r}"
            )
        self.batch = batch
        self.limits = check_limits(partition, {} if limits is None else limits)
        self.past = past
        self.own_past = own_past(partition, past)
        self.partition: PartitionDefinition = partition
        self.refresh = refresh
        self.allow_open = allow_open
        self._time = partition.time
        self._dates = PartitionDates(partition)
        run_policy = RunPolicy(wait, rerun, max_wait, at)
        condition = condition_of(schedule)
        self.upstreams: Upstreams | None = schedule if isinstance(schedule, Upstreams) else None
        if condition is not None:
            self.upstreams = Upstreams(partition, condition, upstreams or {}, rules or {}, run_policy)
            if get_parsing_context().task_id is None:  # a task begins with what was checked when its Dag was read
                self.upstreams.check()
        if self.upstreams is not None:
            self._evaluator, self._mappers = self._waiting_for(self.upstreams)
            self.asset_condition = AnyEvent(self.upstreams.condition)
        else:
            check_schedulable(partition)
            if upstreams or rules or run_policy != RunPolicy():
                raise InvalidDefinitionError(
                    f"upstreams, rules, wait, rerun, max_wait and at go with assets as schedule, not with {schedule!r}"
                )
        ticks = None if self.upstreams is not None else schedule
        self._ticks = ticks_for(partition, ticks)
        plug_in = None if type(self).due is Partitioned.due else self.due
        self._run_order = RunOrder(partition, self._ticks, refresh, plug_in)
        self.can_be_scheduled = schedule is not None
        self.description = f"{partition!r}, {self.upstreams.words if self.upstreams else f'at {self._ticks.summary}'}"
        self.asset = asset
        if asset is not None:
            write_extra(asset, self.produces)

    def _waiting_for(self, upstreams: Upstreams) -> tuple[Evaluator, Mapping[str, PartitionMapper]]:
        evaluator = Evaluator(upstreams, self.own_past)
        evaluator.dag_id = self._dag_id
        return evaluator, mappers_of(upstreams, evaluator, self._dates)

    @property
    def produces(self) -> ProducedPartitions:
        """The Dag's partitions, and its ticks."""
        return ProducedPartitions(self.partition, self._ticks.to_json())

    @property
    def lists(self) -> frozenset[PartitionAtRuntime]:
        upstreams = () if self.upstreams is None else self.upstreams.lists
        return super().lists | frozenset(upstreams)

    @property
    def adds_keys(self) -> bool:
        """Whether its runs add keys of another definition than that of the partitions they are about."""
        return self.produces.definition != self.partition

    @property
    def dag_id(self) -> str | None:
        """The Dag this is the timetable of, once it is known."""
        return self._dag_id

    @dag_id.setter
    def dag_id(self, dag_id: str | None) -> None:
        self._dag_id = dag_id
        if self.upstreams is not None:
            self._evaluator.dag_id = dag_id

    def anew(self) -> Self:
        """The same timetable as another loop of the scheduler reads it: what is being made is asked for again."""
        timetable = copy(self)
        if self.upstreams is not None:
            timetable._evaluator, timetable._mappers = self._waiting_for(self.upstreams)  # noqa: SLF001 - of this class
        return timetable

    def evaluate(self, key: str) -> Evaluation:
        """Evaluate *key* over all that was ever materialized; for scheduler and API server.

        :raises InvalidDefinitionError: with a time schedule.
        :raises InvalidKeyError: if the definition has no such key.
        """
        if self.upstreams is None:
            raise InvalidDefinitionError(f"{self.dag_id} is not scheduled on assets; its partitions wait for none")
        return self._evaluator.evaluate(key, _now())

    def evaluate_all(self, keys: Collection[str]) -> dict[str, Evaluation]:
        """Evaluate some *keys* as :meth:`evaluate` does; what they have in common is asked for once."""
        if self.upstreams is not None:
            self._evaluator.look_ahead(keys)
        return {key: self.evaluate(key) for key in keys}

    def early_until(self, key: str, now: datetime | None = None) -> datetime | None:
        """The time before which no run of *key* begins by itself, aware; ``None`` once it has come.

        :param now: aware; the default is the time of the call.
        :raises InvalidKeyError: if the definition has no such key.
        """
        return None if self.upstreams is None else self._evaluator.early_until(key, now or _now())

    def awaits(self, asset: str) -> bool:
        """Whether *asset* is one of the Dag's upstreams."""
        return self.upstreams is not None and asset in self.upstreams.leaves

    def lacks_unpartitioned(self) -> bool:
        """Whether an upstream without partitions has had no event at all; for scheduler and API server."""
        return self.upstreams is not None and self._evaluator.lacks_unpartitioned()

    def is_blocked(self, key: str) -> bool:
        """Whether something that *key* needs is being made; for scheduler and API server."""
        return self.upstreams is not None and self._evaluator.is_blocked(key, _now())

    @property
    def summary(self) -> str:
        times = {} if self._time is None else {self._time.name: self._time.schedule}
        by = " x ".join(str(times.get(name, name)) for name in self.partition.dimensions)
        return f"{'Asset' if self.upstreams else self._ticks.summary}, by {by}"

    def due(self, previous_tick: datetime | None, tick: datetime) -> Iterable[Key]:
        """The keys that *tick* makes due, in the order of their runs.

        :param previous_tick: the tick before it, aware; ``None`` if there was none.
        :param tick: aware.
        """
        return self._run_order.due(None if previous_tick is None else instant(previous_tick), instant(tick))

    def makes_due(self, key: Key, run_after: datetime) -> bool:
        """Whether a scheduled run with that ``run_after`` is the one its tick makes *key* for, not a refresh."""
        interval = self.partition.interval_of(key)
        return interval is None or self._run_order.due_tick(interval) == self._run_order.tick_of(instant(run_after))

    def partition_date(self, key: Key) -> datetime | None:
        """The date by which Airflow tells the runs of *key* from those of others, aware; ``None`` without time."""
        date = self._dates.of(key)
        return None if date is None else utc(date)

    def get_partition_mapper(self, *, name: str = "", uri: str = "") -> PartitionMapper:
        """The mapper between the partitions of one upstream and the Dag's."""
        if self.upstreams is None:
            return super().get_partition_mapper(name=name, uri=uri)
        return self._mappers[name or uri]

    @property
    def partition_mapper_info(self) -> list[PartitionMapperInfo]:
        leaves = {} if self.upstreams is None else self.upstreams.leaves
        return [
            PartitionMapperInfo(name=name, uri=uri, is_rollup=True)
            if (uri := getattr(leaf, "uri", ""))
            else PartitionMapperInfo(name=name, is_rollup=True)
            for name, leaf in leaves.items()
        ]

    def infer_manual_data_interval(self, *, run_after: DateTime) -> DataInterval:
        """An empty interval: what a partitioned run is about is its partition."""
        from airflow.timetables.base import DataInterval

        return DataInterval.exact(run_after)

    def next_dagrun_info(
        self, *, last_automated_data_interval: DataInterval | None, restriction: TimeRestriction
    ) -> DagRunInfo | None:
        """The first run; Airflow asks :meth:`next_dagrun_info_v2` instead."""
        return self.next_dagrun_info_v2(last_dagrun_info=None, restriction=restriction)

    def next_dagrun_info_v2(
        self, *, last_dagrun_info: DagRunInfo | None, restriction: TimeRestriction
    ) -> DagRunInfo | None:
        from airflow_partitions.engine.ledger.holds import is_held

        try:
            if is_held(self.dag_id):
                return None
        except NotMigratedError as error:  # Airflow reads the file, and asks again when it reads it the next time
            log.warning("Dag %r makes nothing: %s", self.dag_id, error)
            return None
        now = instant(_now())
        if last_dagrun_info is None or last_dagrun_info.run_after == _NEVER:
            earliest = None if restriction.earliest is None else instant(restriction.earliest)
            following = self._run_order.first(now, earliest, catchup=restriction.catchup)
        else:
            date = last_dagrun_info.partition_date
            run_after = instant(last_dagrun_info.run_after)
            last = RunPosition(run_after, last_dagrun_info.partition_key, None if date is None else instant(date))
            # A tick that is left out would hold all after it.
            catchup = restriction.catchup or self.own_past is not None
            following = self._run_order.following(last, now, catchup=catchup)
        if following is None or (restriction.latest is not None and following[1] > instant(restriction.latest)):
            return None
        return self._run(*following)

    def iter_partition_dagrun_infos(self, *, earliest: datetime, latest: datetime) -> Iterator[DagRunInfo]:
        """The closed partitions whose interval starts in ``[earliest, latest]``, read as wall clock in their zone."""
        if self._time is None:
            from airflow.models.backfill import DagNonPeriodicScheduleException

            raise DagNonPeriodicScheduleException(
                f"{self.partition!r} has no time dimension, so there is no range of dates to backfill;"
                " trigger a run for each partition instead, with its key as partition_key"
            )
        closed, partition = self._time.last(_now()), as_listed(self.partition)
        if closed is None:
            return
        low = self.localize_partition_datetime(earliest)
        high = min(instant(self.localize_partition_datetime(latest)) + 1, closed.time_range[0] + 1)
        first = self._time.first()
        if first is not None and instant(low) < first.time_range[0]:
            low = instance(first.start)
        if instant(low) < high:
            for key in partition.keys(low, utc(high)):
                interval = partition.interval_of(key)
                yield self._run(key, interval.time_range[1] if interval else high)

    def localize_partition_datetime(self, dt: datetime) -> DateTime:
        if self._time is None:
            return super().localize_partition_datetime(dt)
        # As Airflow does for its own cron timetables: what the clock shows counts, in the partition's zone.
        return instance(dt.replace(tzinfo=zone(self._time.timezone)))

    def resolve_partition_date(self, partition_key: str | None) -> datetime | None:
        """Date of a manual run's key.

        :raises InvalidPartitionKeyError: without a key, or with one that is not canonical, unknown or still open.
        """
        # Airflow's API server keeps a Dag that it has read, while combinations may be added.
        key = manual_key(partition_key, as_listed(self.partition), _now(), allow_open=self.allow_open)
        if isinstance(self.partition, PartitionAtRuntime) and not self._is_known(str(key)):
            raise unknown_key(str(key), self.partition, [] if self.upstreams is None else list(self.upstreams.leaves))
        return self.partition_date(key)

    def _is_known(self, partition_key: str) -> bool:
        """Whether a task has added a key that is known only at runtime, or an event has brought it."""
        try:
            return self.evaluate(partition_key).status.newest is not None
        except NotMigratedError as error:
            raise InvalidPartitionKeyError(str(error)) from None

    def generate_run_id(
        self, *, run_type: DagRunType, run_after: DateTime, data_interval: DataInterval | None, **extra: Any
    ) -> str:
        key: str | None = extra.get("partition_key")
        text = run_after.isoformat() if key is None else run_id_text(key)
        return run_type.generate_run_id(suffix=f"{text}__{token_hex(4)}")

    def next_run_info_from_dag_model(self, *, dag_model: DagModel) -> DagRunInfo | None:
        """The run that Airflow has noted as the next one; if it is the first of its tick, the one that is that now."""
        noted = super().next_run_info_from_dag_model(dag_model=dag_model)
        if noted is None or self.partition.listed is None:
            return noted
        first = self._run_order.first_of(instant(noted.run_after))
        return noted if first is None else self._run(*first)

    def run_info_from_dag_run(self, *, dag_run: DagRun) -> DagRunInfo:
        last = last_scheduled(dag_run, self._tick_of, self._is_key, is_limited=bool(self.limits))
        if last is None:
            return DagRunInfo(run_after=_NEVER, data_interval=None)
        return DagRunInfo(
            run_after=instance(last.run_after),
            data_interval=None,
            partition_date=None if last.date is None else instance(last.date),
            partition_key=last.key,
        )

    def serialize(self) -> dict[str, Any]:
        return super().serialize() | {
            "schedule": self._ticks.to_json() if self.upstreams is None else self.upstreams.to_json(),
            "partition": self.partition.declared.to_json(),
            "refresh": self.refresh,
            "allow_open": self.allow_open,
            "dag_id": self.dag_id,
            **({"past": self.past} if self.past else {}),
            **({"batch": self.batch} if self.batch != 1 else {}),
            **({"limits": dict(self.limits), "at_once": self.at_once} if self.limits else {}),
        }

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> Partitioned:
        cls.check_form(data)
        schedule = data["schedule"]
        by_assets = isinstance(schedule, dict) and "assets" in schedule
        definition = as_listed(from_json(data["partition"]))
        timetable = cls(
            Upstreams.from_json(definition, schedule) if by_assets else schedule,
            definition,
            refresh=data["refresh"],
            allow_open=data["allow_open"],
            past=data.get("past", 0),
            batch=data.get("batch", 1),
            limits=data.get("limits"),
            **cls._more_arguments(data),
        )
        timetable.dag_id = data["dag_id"]
        timetable.at_once = data.get("at_once", False)
        return timetable

    @classmethod
    def _more_arguments(cls, data: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG003 - for subclasses
        """Arguments of a subclass, from its serialized form."""
        return {}

    def _tick_of(self, run_after: datetime) -> datetime | None:
        tick = self._run_order.tick_of(instant(run_after))
        return None if tick is None else utc(tick)

    def _is_key(self, text: str) -> bool:
        try:
            self.partition.parse(text)
        except InvalidKeyError:
            return False
        return True

    def _run(self, key: Key, run_after: int) -> DagRunInfo:
        date = self.partition_date(key)
        return DagRunInfo(
            run_after=instance(utc(run_after)),
            data_interval=None,
            partition_date=None if date is None else instance(date),
            partition_key=str(key),
        )


def _now() -> datetime:
    return datetime.now(UTC)
