"""Calendars: the boundaries that tile time into half-open intervals.

A boundary of a cron calendar is an instant whose local wall clock matches the cron. If the cron's hour field takes
every hour, that is all: none where the clock jumps over a match, two where it shows one twice. Otherwise matches that
the clock jumps over become one boundary at the first instant after the jump, and of a match shown twice the first one
counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from airflow_partitions.core.calendars.cron import Cron, read_cron
from airflow_partitions.core.calendars.timeline import FIRST, LAST, OffsetPeriod, timeline

# So many answers of a calendar are kept: selections are cut at the same boundaries again and again.
_ANSWERS = 1_024


class Calendar(Protocol):
    """Questions about boundaries; all instants are microseconds since the epoch."""

    def floor(self, at: int) -> int | None:
        """The last boundary at or before *at*, ``None`` if time is exhausted."""

    def after(self, at: int) -> int | None:
        """The first boundary after *at*, ``None`` if time is exhausted."""

    def count(self, start: int, end: int) -> int:
        """Number of boundaries in ``[start, end)``, without listing them."""

    def boundaries(self, start: int, end: int) -> Iterator[int]:
        """The boundaries in ``[start, end)``, in order."""

    def airflow_tick(self, boundary: int) -> int:
        """The instant at which Airflow's cron timetables have a *boundary*.

        They move the first match that the clock jumps over on by the length of the jump, and have none before it; of a
        match that the clock shows twice they take the second. With a cron that takes every hour they count elapsed time
        from the match before.
        """


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

    def airflow_tick(self, boundary: int) -> int:
        return boundary


class CronCalendar:
    """Boundaries where the wall clock of *zone* matches *cron*."""

    def __init__(self, cron: Cron, zone: ZoneInfo) -> None:
        self._cron = cron
        self._timeline = timeline(zone)
        self._ranks = lru_cache(maxsize=256)(self._rank_of_periods)
        self._next = lru_cache(maxsize=_ANSWERS)(self._first_after)
        self._rank = lru_cache(maxsize=_ANSWERS)(self._rank_of)
        self._zone = zone

    def __reduce__(self) -> tuple[Any, ...]:
        return cron_calendar, (self._cron.expression, self._zone)

    def floor(self, at: int) -> int | None:
        for period in self._timeline.backward(at):
            match = self._cron.floor(min(at, period.end - 1) + period.offset)
            if match is not None and match >= self._first_wall(period):
                return match - period.offset
            if self._jumped(period):
                return period.start
        return None

    def after(self, at: int) -> int | None:
        return self._next(at)

    def _first_after(self, at: int) -> int | None:
        for period in self._timeline.forward(at):
            if period.start > at and self._jumped(period):
                return period.start
            match = self._cron.after(max(at + period.offset, self._first_wall(period) - 1))
            if match is not None and match < period.end + period.offset:
                return match - period.offset
        return None

    def count(self, start: int, end: int) -> int:
        if start >= end:
            return 0
        return self._rank(end) - self._rank(start)

    def boundaries(self, start: int, end: int) -> Iterator[int]:
        for period in self._timeline.forward(max(start, FIRST)):
            if period.start >= end:
                return
            if period.start >= start and self._jumped(period):
                yield period.start
            low = max(start + period.offset, self._first_wall(period))
            for match in self._cron.matches(low, min(end, period.end) + period.offset):
                yield match - period.offset

    def airflow_tick(self, boundary: int) -> int:
        period = self._timeline.period(boundary)
        if self._cron.every_hour:
            return self._after_elapsed(boundary, period)
        if period.offset > period.before:
            jumped = self._cron.after(period.start + period.before - 1)
            if jumped is not None and jumped < period.start + period.offset and boundary <= jumped - period.before:
                return jumped - period.before
        back = period.offset - self._timeline.period(period.end).offset
        return boundary + back if back > 0 and boundary + back >= period.end else boundary

    def _after_elapsed(self, boundary: int, period: OffsetPeriod) -> int:
        """The instant that Airflow has instead of *boundary*: it adds what wall clocks differ by as elapsed time."""
        at = self.floor(boundary - 1)
        if at is None or at >= period.start:
            return boundary
        while at < boundary:
            wall = at + self._timeline.offset(at)
            match = self._cron.after(wall)
            if match is None:
                return boundary
            at += match - wall
        return at

    def _first_wall(self, period: OffsetPeriod) -> int:
        """The first wall-clock moment of the period that may match: a repeated one only if every hour counts."""
        if period.offset < period.before and not self._cron.every_hour:
            return period.start + period.before
        return period.start + period.offset

    def _jumped(self, period: OffsetPeriod) -> bool:
        """Whether the jump at the period's start passed over matches, none of them at the first moment after it."""
        gap_end = period.start + period.offset
        return (
            period.offset > period.before
            and not self._cron.every_hour
            and self._cron.count(period.start + period.before, gap_end) > 0
            and self._cron.count(gap_end, gap_end + 1) == 0
        )

    def _rank_of(self, at: int) -> int:
        """Number of boundaries between a fixed instant of the calendar and *at*."""
        at = min(max(at, FIRST), LAST)
        period = self._timeline.period(at)
        rank = self._ranks(period)
        if at > period.start and self._jumped(period):
            rank += 1
        return rank + self._cron.count(self._first_wall(period), at + period.offset)

    def _rank_of_periods(self, period: OffsetPeriod) -> int:
        """Number of boundaries before the period, counted from the start of the epoch's period."""
        rank, at = 0, self._timeline.period(0).start
        while at < period.start:
            passed = self._timeline.period(at)
            rank += self._size(passed)
            at = passed.end
        while at > period.start:
            passed = self._timeline.period(at - 1)
            rank -= self._size(passed)
            at = passed.start
        return rank

    def _size(self, period: OffsetPeriod) -> int:
        matches = self._cron.count(self._first_wall(period), period.end + period.offset)
        return matches + (1 if self._jumped(period) else 0)


@lru_cache(maxsize=1024)
def cron_calendar(schedule: str, zone: ZoneInfo) -> CronCalendar:
    """The one calendar of a *schedule* in a *zone*: what it has worked out serves all definitions of it.

    :raises InvalidDefinitionError: if it is no preset or cron expression.
    """
    return CronCalendar(read_cron(schedule), zone)
