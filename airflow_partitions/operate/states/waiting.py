"""Partitions that wait: some of what they need is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import reduce
from operator import and_, or_
from typing import NamedTuple

from airflow.serialization.definitions.assets import SerializedAssetAll, SerializedAssetAny, SerializedAssetBase

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.engine.ledger.last_times import LastTimes
from airflow_partitions.engine.timetables.condition import leaves
from airflow_partitions.engine.timetables.upstreams import Upstream, Upstreams
from airflow_partitions.operate.states.slabs import selection_of
from airflow_partitions.operate.states.stretch import UpstreamCount


class _Share(NamedTuple):
    """What partitions have of the upstream partitions that they need: some, all."""

    some: Selection
    complete: Selection


class Waiting:
    """What the partitions of one Dag wait for.

    :param times: of its upstream assets, by name.
    :param now: aware.
    """

    def __init__(self, upstreams: Upstreams, times: Mapping[str, LastTimes], now: datetime) -> None:
        self._upstreams = upstreams
        self._times = times
        self._now = now

    def among(self, partitions: Selection) -> Selection:
        """Those of the *partitions* of which some of what they need is there, and not enough."""

        def of(condition: SerializedAssetBase) -> _Share:
            if isinstance(condition, SerializedAssetAll | SerializedAssetAny):
                shares = [of(part) for part in condition.objects]
                join = and_ if isinstance(condition, SerializedAssetAll) else or_
                return _Share(reduce(or_, (s.some for s in shares)), reduce(join, (s.complete for s in shares)))
            (leaf,) = leaves(condition)
            return self._share(self._upstreams.member(leaf.name), partitions)

        share = of(self._upstreams.condition)
        return share.some - share.complete

    def counts(self, partitions: Selection) -> Iterator[UpstreamCount]:
        """How many upstream partitions the *partitions* need, and how many of them are there, by upstream asset."""
        for name in self._upstreams.leaves:
            member = self._upstreams.member(name)
            if not member.dependency.needs_tick:
                needed = member.dependency.upstream(partitions, now=self._now)
                there = needed & self._materialized(member, needed)
                yield UpstreamCount(name, len(there), len(needed), needed - there)

    def _share(self, member: Upstream, partitions: Selection) -> _Share:
        dependency = member.dependency
        if dependency.needs_tick:  # it comes with the tick, and nothing else is waited for
            return _Share(Selection(partitions.definition), partitions)
        needed = dependency.upstream(partitions, now=self._now)
        there = needed & self._materialized(member, needed)
        if not there:
            return _Share(Selection(partitions.definition), Selection(partitions.definition))
        some = dependency.downstream(there, now=self._now) & partitions
        lacking = dependency.upstream(some, now=self._now) - there
        incomplete = dependency.downstream(lacking, now=self._now) if lacking else Selection(partitions.definition)
        # What belongs to all of them, whatever their time, makes none of them wait.
        begun = Selection(partitions.definition) if dependency.rule.moving else some
        return _Share(begun, some - incomplete)

    def _materialized(self, member: Upstream, needed: Selection) -> Selection:
        """Those materialized of the upstream partitions of the time that is *needed*."""
        times = self._times[member.name].between(span_of(needed))
        return selection_of(member.definition, times)


def span_of(selection: Selection) -> TimeRange | None:
    """The time from the first to the last of a selection; ``None`` without a time dimension."""
    if selection.definition.time is None:
        return None
    ranges = [box.time_range for box in selection.boxes if box.time_range is not None]
    return (min(r[0] for r in ranges), max(r[1] for r in ranges)) if ranges else (0, 0)
