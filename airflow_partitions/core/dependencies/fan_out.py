"""The most downstream partitions that one upstream partition has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from itertools import islice, pairwise
from math import prod

from airflow_partitions.core.calendars.instants import UTC, TimeRange, instant, microseconds
from airflow_partitions.core.calendars.steps import back
from airflow_partitions.core.calendars.timeline import LAST, timeline
from airflow_partitions.core.calendars.zones import zone
from airflow_partitions.core.definitions import PartitionByInterval, PartitionDefinition
from airflow_partitions.core.definitions.combinations import combinations_of
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.dependencies.matching import Matching
from airflow_partitions.core.dependencies.rule import Sides
from airflow_partitions.core.dependencies.time_rule import Window

_FROM = instant(datetime(2000, 1, 1, tzinfo=UTC))
_CYCLE = timedelta(days=28 * 365.25) // timedelta(microseconds=1)  # every weekday meets every date
_ALL = 1_500  # so many intervals are all looked at: the weeks of the cycle, or the days of four years
_NEAR = 3


def fan_out(sides: Sides, matching: Matching) -> int | None:
    """The most downstream keys of one upstream key; ``None`` if they have no end, or only a tick or what is added at
    runtime says which they are."""
    if sides.downstream.is_open:
        return None
    most = 1
    for link in matching.links:
        images = link.images[1]
        most *= 1 if images is None else max(map(len, images.values()))
    most *= _most_unlinked(sides.downstream, {link.names[0] for link in matching.links})
    down, up = sides.downstream.time, sides.upstream.time
    if down is None:
        return most
    if matching.needs_tick:
        return None
    if up is None or (matching.rule is not None and matching.rule.moving):
        return most * down.count() if down.start and down.end else None
    sizes = (_size(down, matching.needing(time_range, None, None)) for time_range in _sample_ranges(up, down, matching))
    return most * max(sizes, default=0)


def _most_unlinked(downstream: PartitionDefinition, linked: Collection[str]) -> int:
    """The most combinations of the segments that only the downstream has, with the same ones of those *linked*."""
    dimensions = [one for one in downstream.dimensions.values() if not isinstance(one, PartitionByInterval)]
    if downstream.only is None:
        return prod(dimension.count() for dimension in dimensions if dimension.name not in linked)
    there = [i for i, dimension in enumerate(dimensions) if dimension.name in linked]
    counts = Counter(tuple(map(one.__getitem__, there)) for one in combinations_of(downstream.only.ever))
    return max(counts.values(), default=0)


def _size(down: PartitionByInterval, time_range: TimeRange) -> int:
    low, high = down.overlapping(*time_range)
    return down.calendar.count(low, high)


def _sample_ranges(up: PartitionByInterval, down: PartitionByInterval, matching: Matching) -> Iterator[TimeRange]:
    """Upstream intervals with the most downstream ones among them: all, if one side is short enough."""
    first, last = up.first(), up.last()
    low = first.time_range[0] if first else up.calendar.floor(_FROM) or _FROM
    if (begin := down.first()) is not None:  # before what it needs nothing depends on anything
        needed = matching.upstream(Box(begin.time_range), None)
        reach = begin.time_range[0] if needed is None or needed.time_range is None else needed.time_range[0]
        low = max(low, up.calendar.floor(min(reach, begin.time_range[0])) or low)
    high = min(low + _CYCLE, last.time_range[1] if last else LAST)
    ups, downs = up.calendar.count(low, high), down.calendar.count(low, high)
    if ups <= max(downs, _ALL):
        yield from pairwise(islice(up.calendar.boundaries(low, high + 1), _ALL + 1))
    else:
        # Most downstream boundaries are reached by the last interval that still reaches the first of them.
        late = microseconds(matching.rule.after) if isinstance(matching.rule, Window) else 0
        some = islice(down.calendar.boundaries(low, high), _ALL)
        starts = {up.calendar.floor(boundary + late - 1) for boundary in some} | {low}
        yield from ((at, up.calendar.after(at) or LAST) for at in starts if at is not None and low <= at < high)
    if min(ups, downs) > _ALL:
        for change in _changes((up.timezone, down.timezone), low, high):
            start = up.calendar.floor(change)
            if start is not None:
                near = up.calendar.boundaries(max(low, back(up.calendar, start, _NEAR)), high + 1)
                yield from pairwise(islice(near, 2 * _NEAR))


def _changes(zones: tuple[str, ...], low: int, high: int) -> Iterator[int]:
    """The clock changes in ``[low, high)``."""
    for name in dict.fromkeys(zones):
        for period in timeline(zone(name)).forward(low):
            if period.start >= high:
                break
            if period.offset != period.before:
                yield period.start
