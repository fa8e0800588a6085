"""Partitions whose upstream partitions were materialized later than they."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from airflow_partitions.core.calendars.instants import TimeRange, utc
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionByInterval, PartitionDefinition, WholeAsset
from airflow_partitions.core.dependencies import Dependency, Overlap, Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.dependencies.rule import KeyRule
from airflow_partitions.core.keys import Segment
from airflow_partitions.engine.ledger.last_times import LastTimes, TimesByStart
from airflow_partitions.engine.ledger.places import Place, Places
from airflow_partitions.engine.timetables.upstreams import Upstream

_BLOCK = 256


def stale_places(
    times: TimesByStart, places: Places, member: Upstream, upstream: LastTimes, since: int = 0
) -> Iterator[Place]:
    """Those of the partitions in *times* of which an upstream partition was materialized later.

    What a rule takes for now is when the partition was materialized: a newer latest partition makes none stale, nor
    does a newer event of an upstream without partitions. Where a tick says which partitions are meant, an upstream
    partition of a later tick makes none stale either.

    :param member: the upstream asset.
    :param upstream: its times.
    :param since: an instant; only those of which an upstream partition was materialized after it.
    """
    if member.dependency.needs_tick or isinstance(member.definition, WholeAsset) or not times:
        return
    needs = _Needs(places, member, upstream)
    if needs.newest_of_all(times) <= max(since, min(min(some.values()) for some in times.values())):
        return
    for start, some in times.items():
        for segments, at in some.items():
            place = Place(start, segments)
            if needs.newest(place, at) > max(at, since):
                yield place


class _Needs:
    """The upstream partitions that downstream ones need: what belongs to a time, and to segments, is found once."""

    def __init__(self, places: Places, member: Upstream, upstream: LastTimes) -> None:
        self._places = places
        self._dependency = _of_full(member.dependency)
        self._upstream = upstream
        self._time = places.definition.time
        self._upstream_time = member.definition.time
        self._moving = member.dependency.rule.moving
        self._whole_keys = isinstance(member.dependency.rule, KeyRule)
        self._newest = NewestTimes({})
        self._ranges: dict[int, TimeRange | None] = {}
        self._segments: dict[tuple[str, ...], Mapping[str, tuple[Segment, ...]]] = {}
        self._overlaps = isinstance(member.dependency.rule, Overlap) and None not in (self._time, self._upstream_time)

    def newest_of_all(self, times: TimesByStart) -> int:
        """When any upstream partition was last materialized that one of those in *times* may need."""
        if self._upstream_time is None:
            read = self._upstream.between(None)
        elif self._moving or self._whole_keys or self._time is None:
            read = self._upstream.between((FIRST, LAST))
        else:
            low, high = min(times), self._time.calendar.after(max(times)) or LAST
            span = self._dependency.upstream(Selection(self._dependency.sides.downstream, (Box((low, high)),)))
            ranges = [box.time_range for box in span.boxes if box.time_range is not None]
            read = self._upstream.between((min(r[0] for r in ranges), max(r[1] for r in ranges)) if ranges else (0, 0))
        self._newest = NewestTimes(read, self._upstream.places.definition)
        return self._newest.over(None, {})

    def newest(self, place: Place, at: int) -> int:
        """When the upstream partitions of the one at *place*, made *at* a time, were last materialized; 0 if never."""
        if not self._moving and not self._whole_keys and place.segments in self._segments:
            segments = self._segments[place.segments]
            if self._overlaps and self._time is not None:
                interval = place.start, self._time.calendar.after(place.start) or LAST
                return self._newest.overlapping(interval, self._upstream_time, segments)
            if place.start in self._ranges:
                return self._newest.over(self._ranges[place.start], segments)
        boxes = self._dependency.upstream(self._places.key(place), now=utc(at) if self._moving else None).boxes
        if not self._whole_keys:
            for box in boxes:
                self._ranges[place.start], self._segments[place.segments] = box.time_range, box.segments
        return max((self._newest.over(box.time_range, box.segments) for box in boxes), default=0)


def _of_full(dependency: Dependency) -> Dependency:
    """The *dependency* with all combinations on both sides: what has no times adds none, and a time has one answer."""
    sides = dependency.sides
    if isinstance(dependency.rule, KeyRule) or (sides.downstream.only is None and sides.upstream.only is None):
        return dependency
    return Dependency(sides.downstream.full, sides.upstream.full, dependency.rule)


class NewestTimes:
    """The newest of an asset's last times in ranges of time, for chosen segments."""

    def __init__(self, times: TimesByStart, definition: PartitionDefinition | None = None) -> None:
        self._times = times
        self._starts = sorted(times)
        self._names = [] if definition is None else [
            name for name, one in definition.dimensions.items() if not isinstance(one, PartitionByInterval)
        ]  # fmt: skip
        self._rows: dict[tuple[tuple[str, ...] | None, ...], _Row] = {}

    def over(self, time_range: TimeRange | None, segments: Mapping[str, tuple[Segment, ...]]) -> int:
        """The newest time of partitions that start in *time_range*, or of all; 0 if there is none."""
        i, j = 0, len(self._starts)
        if time_range is not None:
            i, j = bisect_left(self._starts, time_range[0]), bisect_left(self._starts, time_range[1])
        return self._row(segments).newest(i, j)

    def overlapping(
        self, time_range: TimeRange, time: PartitionByInterval | None, segments: Mapping[str, tuple[Segment, ...]]
    ) -> int:
        """The newest time of partitions that overlap *time_range*; 0 if there is none."""
        starts, (low, high) = self._starts, time_range
        i = bisect_right(starts, low)
        if i and (starts[i - 1] == low or (time is not None and time.calendar.floor(low) == starts[i - 1])):
            i -= 1
        return self._row(segments).newest(i, bisect_left(starts, high, lo=i))

    def _row(self, segments: Mapping[str, tuple[Segment, ...]]) -> _Row:
        key = tuple(tuple(s.text for s in segments[name]) if name in segments else None for name in self._names)
        if key not in self._rows:
            self._rows[key] = _Row([self._newest_at(start, key) for start in self._starts])
        return self._rows[key]

    def _newest_at(self, start: int, chosen: tuple[tuple[str, ...] | None, ...]) -> int:
        some = self._times[start]
        if all(texts is None for texts in chosen):
            return max(some.values())
        if len(chosen) == 1 and chosen[0] is not None:
            return max((some.get((text,), 0) for text in chosen[0]), default=0)
        return max((at for segments, at in some.items() if _among(segments, chosen)), default=0)


class _Row:
    """Times in order, and the newest of each block of them."""

    def __init__(self, times: Sequence[int]) -> None:
        self._times = times
        self._blocks = [max(times[i : i + _BLOCK]) for i in range(0, len(times), _BLOCK)]

    def newest(self, i: int, j: int) -> int:
        """The newest from the *i*-th to before the *j*-th; 0 if there is none."""
        if j - i <= 2 * _BLOCK:
            return max(self._times[i:j], default=0) if j - i != 1 else self._times[i]
        first, last = -(-i // _BLOCK), j // _BLOCK
        edges = *self._times[i : first * _BLOCK], *self._times[last * _BLOCK : j], *self._blocks[first:last]
        return max(edges)


def _among(segments: Iterable[str], chosen: Iterable[tuple[str, ...] | None]) -> bool:
    return all(texts is None or text in texts for text, texts in zip(segments, chosen, strict=True))
