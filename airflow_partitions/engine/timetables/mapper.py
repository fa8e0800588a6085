"""Airflow's mapper for an upstream of a partitioned Dag."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Any

from airflow.partition_mappers.base import PartitionMapper
from airflow.partition_mappers.wait_policy import PartitionSatisfaction, WaitPolicy

from airflow_partitions.core.calendars.instants import instant, utc
from airflow_partitions.core.dependencies import Selection, Unpartitioned
from airflow_partitions.core.errors import InvalidKeyError, NotMigratedError
from airflow_partitions.core.keys import Key
from airflow_partitions.engine.timetables.evaluation import Evaluator
from airflow_partitions.engine.timetables.partition_date import PartitionDates
from airflow_partitions.engine.timetables.rules import write_rule
from airflow_partitions.engine.timetables.upstreams import MAX_DOWNSTREAM_KEYS, Upstream, Upstreams

log = logging.getLogger(__name__)


class UpstreamKeys(AbstractSet[str]):
    """Texts of the upstream keys that one downstream key needs; :class:`WaitForHistory` claims its run by them."""

    def __init__(self, mapper: DependencyMapper, text: str, selection: Selection) -> None:
        self.mapper = mapper
        self.text = text
        self._selection = selection

    def __contains__(self, text: object) -> bool:
        try:
            return isinstance(text, str) and any(key in self._selection for key in self.mapper.member.keys(text))
        except InvalidKeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return map(self.mapper.member.text, self._selection)

    def __len__(self) -> int:
        return len(self._selection)


class WaitForHistory(WaitPolicy):
    """Fires when all that is needed has been materialized at any time and nothing of it is being made."""

    def is_satisfied_by_keys(self, *, matched: AbstractSet[str], expected: AbstractSet[str]) -> PartitionSatisfaction:
        """Claim the run if the whole condition holds, whatever keys the pending row has *matched*."""
        try:
            satisfied = isinstance(expected, UpstreamKeys) and expected.mapper.evaluator.claim_run(expected.text)
        except NotMigratedError as error:  # the row waits until they are there
            log.warning("Partitions on assets wait: %s", error)
            satisfied = False
        return PartitionSatisfaction(satisfied=satisfied, unreachable=False, unreachable_reason=None)


class DependencyMapper(PartitionMapper):
    """Airflow's mapper for one upstream of a Dag, derived from the definitions of both sides."""

    is_rollup = True

    def __init__(self, upstreams: Upstreams, name: str, evaluator: Evaluator, dates: PartitionDates) -> None:
        super().__init__(max_downstream_keys=MAX_DOWNSTREAM_KEYS)
        self.upstreams = upstreams
        self.name = name
        self.evaluator = evaluator
        self.wait_policy = WaitForHistory()
        self._dates = dates

    @property
    def member(self) -> Upstream:
        """The upstream of the mapper."""
        return self.upstreams.member(self.name)

    def to_downstream(self, key: str) -> list[str]:
        """The Dag's keys that an event of the upstream *key* may make; none if it can't change them any more."""
        return self.unsettled(self.reached(key))

    def reached(self, key: str, run_after: datetime | None = None) -> dict[str, Key]:
        """The Dag's keys that such an event is about, by their texts.

        :param run_after: of the run that sent it, for an event of the past.
        """
        member, now = self.member, datetime.now(UTC)
        keys: dict[str, Key] = {}
        for upstream in member.keys(key):
            for downstream in self._downstream(member, upstream, key, run_after, now):
                keys[str(downstream)] = downstream
        return keys

    def unsettled(self, keys: Mapping[str, Key]) -> list[str]:
        """Those of the Dag's *keys*, by their texts, that a change may make, or make again."""
        settled = self._settled(keys, datetime.now(UTC))
        return [text for text in keys if text not in settled]

    def to_upstream(self, downstream_key: str) -> UpstreamKeys:
        """The upstream keys that the Dag's key needs."""
        return UpstreamKeys(self, downstream_key, self.evaluator.needed(self.member, downstream_key))

    def to_partition_date(self, downstream_key: str) -> Any:
        """Partition date of the Dag's key."""
        date = self._dates.of(self.upstreams.downstream.parse(downstream_key))
        return None if date is None else utc(date)

    def serialize(self) -> dict[str, Any]:
        """The form by which Airflow sees whether the mapper changed."""
        return {
            "downstream": self.upstreams.downstream.declared.to_json(),
            "condition": self.upstreams.condition.as_expression(),
            "upstream": {"name": self.name, "declared": self.upstreams.declared(self.name)},
            "rule": write_rule(self.upstreams.rule(self.name)),
        }

    def _downstream(
        self, member: Upstream, key: Key, text: str, run_after: datetime | None, now: datetime
    ) -> Selection:
        dependency = member.dependency
        if dependency.needs_tick:
            return dependency.downstream(key, tick=self._tick(member, text, run_after, now), now=now)
        if dependency.rule == Unpartitioned("nothing"):
            return Selection(self.upstreams.downstream)
        selection = dependency.downstream(key, now=now)
        if not dependency.rule.moving or self.upstreams.downstream.time is None:
            return selection
        # What holds for every interval is taken up by those to come: only the newest one is made again by itself.
        newest = self.upstreams.downstream.last_interval(now)
        if newest is None:
            return Selection(self.upstreams.downstream)
        return selection & Selection.between(self.upstreams.downstream, newest.start, newest.end)

    def _tick(
        self, member: Upstream, text: str, run_after: datetime | None, now: datetime
    ) -> tuple[datetime | None, datetime]:
        """The tick that made the upstream key *text*, and the one before it."""
        from airflow_partitions.engine.ledger.dag_runs import run_after_of

        at = instant(run_after or run_after_of(self.name, text) or now)
        tick = member.ticks.floor(at)
        if tick is None:
            return None, utc(at)
        before = member.ticks.floor(tick - 1)
        return None if before is None else utc(before), utc(tick)

    def _settled(self, keys: Mapping[str, Key], now: datetime) -> set[str]:
        """Those of the Dag's *keys* that are made and that no change makes again: nobody needs to wait for them."""
        from airflow_partitions.engine.ledger.dag_runs import run_statuses

        run_policy, downstream = self.upstreams.run_policy, self.upstreams.downstream
        intervals = ((text, downstream.interval_of(key)) for text, key in keys.items())
        ends = ((text, None if interval is None else interval.end) for text, interval in intervals)
        past = [text for text, end in ends if run_policy.wait is None and run_policy.is_past(end, now)]
        if not past or self.evaluator.dag_id is None:
            return set()
        statuses = run_statuses(self.evaluator.dag_id, downstream, past)
        return {text for text, runs in statuses.items() if runs.queued or runs.started is not None}


def mappers_of(upstreams: Upstreams, evaluator: Evaluator, dates: PartitionDates) -> Mapping[str, DependencyMapper]:
    """A mapper for each upstream, by name and by URI."""
    mappers = {}
    for name, leaf in upstreams.leaves.items():
        mapper = mappers[name] = DependencyMapper(upstreams, name, evaluator, dates)
        if uri := getattr(leaf, "uri", ""):
            mappers[uri] = mapper
    return mappers
