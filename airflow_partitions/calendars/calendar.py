"""Calendars: the boundaries that tile time into half-open intervals.

A boundary of a cron calendar is an instant whose local wall clock matches the cron. Matches that the clock jumps over
become one boundary at the first instant after the jump. Matches that the clock shows twice count twice only if the
cron's hour field takes every hour; otherwise the first one counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from airflow_partitions.calendars.cron import Cron
from airflow_partitions.calendars.timeline import FIRST, LAST, OffsetPeriod, timeline


class Calendar(Protocol):
    """Questions about boundaries; all instants are microseconds since the epoch."""

    def floor(self, at: int) -> int | None:
        """The last boundary at or before *at*, ``None`` if time is exhausted."""

    def after(self, at: int) -> int | None:
        """The first boundary after *at*, ``None`` if time is exhausted."""

    def count(self, start: int, end: int) -> int:
        """How many boundaries lie in ``[start, end)``, without listing them."""

    def boundaries(self, start: int, end: int) -> Iterator[int]:
        """The boundaries in ``[start, end)``, in order."""


class ElapsedCalendar:
    """Boundaries every *step* microseconds of real elapsed time, one of them at *anchor*."""

    def __init__(self, step: int, anchor: int) -> None:
        self._step = step
        self._anchor = anchor

    def floor(self, at: int) -> int | None:
        return at - (at - self._anchor) % self._step

    def after(self, at: int) -> int | None:
        return at - (at - self._anchor) % self._step + self._step

    def count(self, start: int, end: int) -> int:
        return max(0, (end - 1 - self._anchor) // self._step - (start - 1 - self._anchor) // self._step)

    def boundaries(self, start: int, end: int) -> Iterator[int]:
        return iter(range(start + (self._anchor - start) % self._step, end, self._step))


class CronCalendar:
    """Boundaries where the wall clock of *zone* matches *cron*."""

    def __init__(self, cron: Cron, zone: ZoneInfo) -> None:
        self._cron = cron
        self._timeline = timeline(zone)
        self._ranks = lru_cache(maxsize=256)(self._rank_of_stretches)
        self._zone = zone

    def __reduce__(self) -> tuple[Any, ...]:
        return CronCalendar, (self._cron, self._zone)

    def floor(self, at: int) -> int | None:
        for stretch in self._timeline.backward(at):
            match = self._cron.floor(min(at, stretch.end - 1) + stretch.offset)
            if match is not None and match >= self._first_wall(stretch):
                return match - stretch.offset
            if self._jumped(stretch):
                return stretch.start
        return None

    def after(self, at: int) -> int | None:
        for stretch in self._timeline.forward(at):
            if stretch.start > at and self._jumped(stretch):
                return stretch.start
            match = self._cron.after(max(at + stretch.offset, self._first_wall(stretch) - 1))
            if match is not None and match < stretch.end + stretch.offset:
                return match - stretch.offset
        return None

    def count(self, start: int, end: int) -> int:
        if start >= end:
            return 0
        return self._rank(end) - self._rank(start)

    def boundaries(self, start: int, end: int) -> Iterator[int]:
        for stretch in self._timeline.forward(max(start, FIRST)):
            if stretch.start >= end:
                return
            if stretch.start >= start and self._jumped(stretch):
                yield stretch.start
            low = max(start + stretch.offset, self._first_wall(stretch))
            for match in self._cron.matches(low, min(end, stretch.end) + stretch.offset):
                yield match - stretch.offset

    def _first_wall(self, stretch: OffsetPeriod) -> int:
        """The first wall-clock moment of the stretch that may match: a repeated one only if every hour counts."""
        if stretch.offset < stretch.before and not self._cron.every_hour:
            return stretch.start + stretch.before
        return stretch.start + stretch.offset

    def _jumped(self, stretch: OffsetPeriod) -> bool:
        """Whether the jump at the stretch's start passed over matches, none of them at the first moment after it."""
        gap_end = stretch.start + stretch.offset
        return (
            stretch.offset > stretch.before
            and self._cron.count(stretch.start + stretch.before, gap_end) > 0
            and self._cron.count(gap_end, gap_end + 1) == 0
        )

    def _rank(self, at: int) -> int:
        """How many boundaries lie between a fixed instant of the calendar and *at*."""
        at = min(max(at, FIRST), LAST)
        stretch = self._timeline.stretch(at)
        rank = self._ranks(stretch)
        if at > stretch.start and self._jumped(stretch):
            rank += 1
        return rank + self._cron.count(self._first_wall(stretch), at + stretch.offset)

    def _rank_of_stretches(self, stretch: OffsetPeriod) -> int:
        """How many boundaries lie before the stretch, counted from the start of the epoch's stretch."""
        rank, at = 0, self._timeline.stretch(0).start
        while at < stretch.start:
            passed = self._timeline.stretch(at)
            rank += self._size(passed)
            at = passed.end
        while at > stretch.start:
            passed = self._timeline.stretch(at - 1)
            rank -= self._size(passed)
            at = passed.start
        return rank

    def _size(self, stretch: OffsetPeriod) -> int:
        matches = self._cron.count(self._first_wall(stretch), stretch.end + stretch.offset)
        return matches + (1 if self._jumped(stretch) else 0)
