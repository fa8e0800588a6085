"""The periods of constant UTC offset of a zone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import timedelta, tzinfo
from functools import cache, lru_cache
from typing import Any, NamedTuple

from airflow_partitions.core.calendars.instants import DAY, SECOND, utc, wall_of

_BLOCK = 4096 * DAY  # about eleven years: one block serves most questions, and costs a few milliseconds once
# As many as there are are kept of a zone: who asks for all years would push out the ones of today.
_BLOCKS = 1_024
# Python's datetime covers years 1 to 9999; staying a little inside keeps local times representable everywhere.
FIRST = -62_135_596_800 * SECOND + 3 * DAY
LAST = 253_402_300_800 * SECOND - 3 * DAY


class OffsetPeriod(NamedTuple):
    """Instants ``[start, end)`` in which local time is UTC plus *offset* microseconds.

    *before* is the offset in force just before *start*.
    """

    start: int
    end: int
    offset: int
    before: int


class Timeline:
    """All periods of a zone, computed once per block of years and kept.

    ``zoneinfo`` does not publish its transitions, so they are found by comparing the offsets of successive days and
    halving the day in which they differ.
    """

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._block = lru_cache(maxsize=_BLOCKS)(self._changes)

    def __reduce__(self) -> tuple[Any, ...]:
        return timeline, (self._zone,)

    def offset(self, at: int) -> int:
        """UTC offset in microseconds at the instant *at*."""
        return wall_of(utc(at).astimezone(self._zone)) - at

    def period(self, at: int) -> OffsetPeriod:
        """The period in which the instant *at* lies, cut at the borders of its block."""
        number = at // _BLOCK
        starts, offsets = self._block(number)
        i = bisect_right(starts, at) - 1
        end = starts[i + 1] if i + 1 < len(starts) else (number + 1) * _BLOCK
        return OffsetPeriod(starts[i], end, offsets[i + 1], offsets[i])

    def forward(self, at: int) -> Iterator[OffsetPeriod]:
        """Periods from the one holding *at*, onwards."""
        while at < LAST:
            period = self.period(at)
            yield period
            at = period.end

    def backward(self, at: int) -> Iterator[OffsetPeriod]:
        """Periods from the one holding *at*, back in time."""
        while at >= FIRST:
            period = self.period(at)
            yield period
            at = period.start - 1

    def instants(self, wall: int) -> tuple[int, ...]:
        """The instants at which the local clock shows *wall*, in order: none in a gap, two where it repeats."""
        candidates = sorted({wall - self.offset(wall - DAY), wall - self.offset(wall + DAY)})
        return tuple(at for at in candidates if at + self.offset(at) == wall)

    def after_gap(self, wall: int) -> int:
        """The first instant after the jump that passes over *wall*."""
        early, late = wall - self.offset(wall + DAY), wall - self.offset(wall - DAY)
        return self.period(max(early, late)).start

    def _changes(self, number: int) -> tuple[list[int], list[int]]:
        """Starts of a block's periods, and their offsets after the one in force just before the block."""
        start, end = number * _BLOCK, min((number + 1) * _BLOCK, LAST)
        first = max(start, FIRST)
        starts, offsets = [start], [self.offset(max(start - SECOND, FIRST)), self.offset(first)]
        for low, high in self._days_of_change(first, end):
            at = low
            while self.offset(high) != offsets[-1] and (at := self._change(at, high)) < end:
                starts.append(at)
                offsets.append(self.offset(at))
        return starts, offsets

    def _change(self, low: int, high: int) -> int:
        """The instant between *low* and *high* from which the offset is no longer that of *low*."""
        before = self.offset(low)
        while high - low > SECOND:
            middle = (low + high) // 2 // SECOND * SECOND
            low, high = (middle, high) if self.offset(middle) == before else (low, middle)
        return high

    def _days_of_change(self, low: int, end: int) -> Iterator[tuple[int, int]]:
        """The days in ``[low, end)`` whose ends differ in offset."""
        zone, moment, day = self._zone, utc(low).replace(tzinfo=self._zone), timedelta(days=1)
        before = zone.fromutc(moment).utcoffset()
        for at in range(low, end, DAY):
            moment += day
            after = zone.fromutc(moment).utcoffset()
            if after != before:
                yield at, min(at + DAY, end)
            before = after


@cache
def timeline(zone: tzinfo) -> Timeline:
    """The one timeline of *zone*."""
    return Timeline(zone)
