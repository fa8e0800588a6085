"""The Dag behind a decorated asset."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Self

import attrs
from airflow.sdk import DAG

from airflow_partitions.authoring.assets.dag_arguments import DagArguments, advice
from airflow_partitions.authoring.assets.infer import INFER, inferred
from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionBySequence, PartitionDefinition
from airflow_partitions.core.definitions.definition import check_definition
from airflow_partitions.core.dependencies import KeyFormat, Rule
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.engine.timetables import Partitioned
from airflow_partitions.engine.timetables.asset_extra import ProducedPartitions
from airflow_partitions.engine.timetables.base import PartitionTimetable
from airflow_partitions.engine.timetables.condition import condition_of
from airflow_partitions.engine.timetables.run_policy import AtLeast, BeginTime, Within
from airflow_partitions.engine.timetables.runtime_timetables import runtime_timetable
from airflow_partitions.engine.timetables.ticks import ticks_for
from airflow_partitions.engine.timetables.upstreams import check_by_name

_SECTION, _LIMIT = "asset_partitions", "max_sequence_length"
_MOST_THREADS = 64


def by_name(_: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Refuse what is no mapping from names."""
    if value is not None:
        check_by_name(attribute.name, value)


@attrs.define(kw_only=True)
class PartitionedDag(DagArguments):
    """Arguments for the Dag behind an asset: Airflow's own for ``@asset``, and those of partitioned assets.

    :ivar schedule: when to look for partitions to make: a preset or cron read in the partition's zone, a timedelta, a
        timetable, or ``None``.
    :ivar partition: definition of the asset's partitions; ``None``, written out, for an asset without any; ``INFER``
        for the intervals of *schedule*, or the partitions that the assets in it have.
    :ivar refresh: make this many intervals before the due ones again at every tick.
    :ivar allow_open: accept manual runs for an interval that is not over.
    :ivar upstreams: definitions of upstream assets in *schedule* by name, for those that publish none.
    :ivar rules: instead of overlap, by name of an upstream asset or input.
    :ivar wait: ``AtLeast(n)`` to begin when *n* partitions of every upstream are there, and once more when all are.
    :ivar rerun: when an upstream partition changes later: ``"always"`` make the partition again,
        ``"never"``, or ``Within("7d", settle="30min")``.
    :ivar max_wait: time after which an upstream run at work is waited for no longer.
    :ivar at: with assets in *schedule*, no run begins by itself before this: a time of day in the partition's zone,
        such as ``"06:00"``, the first after the end of its interval, or so long after that end.
    :ivar past: a partition needs so many before it of the asset itself, along time; they are made in order.
    :ivar batch: the most partitions that one task makes: its own run's, and those of runs that are queued; ``"auto"``
        for as many as take a minute. Each run keeps its state, note and event; one that fails is tried alone. One task
        works at a time.
    :ivar limits: how many runs of one value of a dimension are at work at a time, by dimension, such as
        ``{"customer": 1}``; or the name of a limit that several assets share, in ``[asset_partitions] limits`` of
        airflow.cfg.
    :ivar threads: as many of a batch are made at a time, each by a thread that calls the function for it.

    The others mean what they mean for a Dag.
    """

    schedule: Any
    partition: PartitionDefinition | None = attrs.field(
        validator=attrs.validators.optional(lambda _, __, value: value is INFER or check_definition(value))
    )
    refresh: int = 0
    allow_open: bool = False
    upstreams: Mapping[str, PartitionDefinition | KeyFormat] | None = attrs.field(default=None, validator=by_name)
    rules: Mapping[str, Rule] | None = attrs.field(default=None, validator=by_name)
    wait: AtLeast | None = None
    rerun: str | Within = "always"
    max_wait: str | timedelta = timedelta(days=1)
    at: BeginTime | None = None
    past: int = 0
    batch: int | str = 1
    limits: Mapping[str, int | str] | None = None
    threads: int = 1

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Refuse an asset that says nothing of its partitions, before Python does."""
        if options and "partition" not in options:  # a copy is made without any
            names = [field.alias for field in attrs.fields(cls)]
            unknown = next((name for name in options if name not in names), None)
            also = "" if unknown is None else f", and {unknown!r} is no argument here; {advice(unknown, names)}"
            raise InvalidDefinitionError(
                f"partition= is missing{also}; write the partitions, for example PartitionByInterval('@daily'),"
                " partition=INFER for those that follow from schedule, or partition=None for an asset without any"
            )
        return super().__new__(cls, *args, **options)

    def __attrs_post_init__(self) -> None:
        if self.partition is INFER:
            self.partition = inferred(self.schedule, self.upstreams or {})

    def create_dag(self, *, default_dag_id: str, function: Callable[..., Any] | None = None) -> DAG:
        """The Dag, with the timetable that makes one run per partition.

        :param function: what it runs; its docstring documents the Dag, and the first line describes it where nothing
            else does.
        """
        timetable = self._timetable(default_dag_id)
        # Runs that add keys take turns; more of them at a time would only wait.
        takes_turns = isinstance(timetable, PartitionTimetable) and timetable.adds is not None
        docstring = None if function is None else inspect.getdoc(inspect.unwrap(function))
        return self.create(
            default_dag_id,
            timetable,
            max_active_runs=1 if takes_turns or self.batch != 1 else None,
            docstring=docstring,
        )

    def _check_threads(self, name: str) -> None:
        problem = None
        if type(self.threads) is not int or not 1 <= self.threads <= _MOST_THREADS:
            problem = f"expected how many partitions of a batch are made at a time, from 1 to {_MOST_THREADS}"
        elif self.threads != 1 and self.batch == 1:
            problem = "without batch= a task makes one partition; expected batch=, too"
        elif self.threads != 1 and self.past:
            problem = f"with past={self.past} each partition needs the one before it; expected one of the two"
        if problem is not None:
            raise InvalidDefinitionError(f"{name}: threads={self.threads!r}: {problem}")

    def _timetable(self, name: str) -> Any:
        self._check_threads(name)
        if self.partition is None:
            if self.refresh or self.allow_open or self.past or self.batch != 1 or self.at is not None or self.limits:
                raise InvalidDefinitionError(
                    f"{name}: refresh, allow_open, at, past, batch and limits need a partition; partition is None"
                )
            return self.schedule
        check_length_limit(self.partition, name)
        if isinstance(self.partition, PartitionAtRuntime):
            if self.refresh or self.allow_open or self.past:
                raise InvalidDefinitionError(f"{name}: refresh, allow_open and past need keys known before a task runs")
            policy = {"wait": self.wait, "rerun": self.rerun, "max_wait": self.max_wait, "at": self.at}
            definitions = self.upstreams or {}
            timetable = None if self.rules else runtime_timetable(self.schedule, self.partition, definitions, **policy)
            if timetable is not None:
                if self.batch != 1 or self.limits:
                    raise InvalidDefinitionError(f"{name}: batch and limits need runs with a partition; these add keys")
                return timetable
        return Partitioned(
            self.schedule,
            self.partition,
            refresh=self.refresh,
            allow_open=self.allow_open,
            upstreams=self.upstreams,
            rules=self.schedule_rules(),
            wait=self.wait,
            rerun=self.rerun,
            max_wait=self.max_wait,
            at=self.at,
            past=self.past,
            batch=self.batch,
            limits=self.limits,
        )

    def produces(self) -> ProducedPartitions | None:
        """The Dag's partitions, and its ticks."""
        if self.partition is None:
            return None
        by_time = condition_of(self.schedule) is None
        return ProducedPartitions(
            self.partition, ticks_for(self.partition, self.schedule).to_json() if by_time else None
        )

    def schedule_rules(self) -> Mapping[str, Rule]:
        """The rules for the assets in *schedule*."""
        return self.rules or {}


def check_length_limit(definition: PartitionDefinition, name: str) -> None:
    """Refuse a sequence longer than the configured limit.

    :raises InvalidDefinitionError: naming the option to raise.
    """
    from airflow.sdk.configuration import conf

    limit = conf.getint(_SECTION, _LIMIT, fallback=1000)
    for dimension in getattr(definition, "dimensions", {}).values():
        if isinstance(dimension, PartitionBySequence) and len(dimension.segments) > limit:
            raise InvalidDefinitionError(
                f"{name}: {dimension!r} has {len(dimension.segments):,} values, each a Dag run per tick; expected"
                f" at most {limit:,}. Raise [{_SECTION}] {_LIMIT} if you mean it"
            )
