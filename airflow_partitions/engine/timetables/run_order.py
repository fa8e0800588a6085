"""The order of runs: ticks, and the keys due at each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from airflow_partitions.core.calendars.instants import utc
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.keys import Interval, Key
from airflow_partitions.engine.timetables.due_keys import DueKeys, ListedDueKeys, RangeDueKeys, SegmentDueKeys
from airflow_partitions.engine.timetables.ticks import Ticks

_MICROSECOND = 1
_MAX_EMPTY_TICKS = 10_000


class RunPosition(NamedTuple):
    """The place of a run in the order: instants in microseconds since the epoch.

    :ivar run_after: the tick plus a microsecond for each run before it.
    :ivar key: text of its partition, ``None`` if it was cleared.
    :ivar date: its partition date.
    """

    run_after: int
    key: str | None
    date: int | None


class RunOrder:
    """The runs of a partitioned Dag in order.

    :param definition: of the partitions.
    :param ticks: of the Dag.
    :param refresh: make this many intervals before the due ones again.
    :param due: chooses the keys of a tick in another way, given the previous tick and the tick.
    """

    def __init__(
        self,
        definition: PartitionDefinition,
        ticks: Ticks,
        refresh: int = 0,
        due: Callable[[datetime | None, datetime], Iterable[Key]] | None = None,
    ) -> None:
        self._definition = definition
        self._time = definition.time
        self._ticks = ticks
        self._refresh = refresh
        self._plug_in = due

    def first(self, now: int, earliest: int | None, *, catchup: bool) -> tuple[Key, int] | None:
        """The first run and its ``run_after``: of the newest tick if the Dag had started by then, else the one to come.

        A Dag without start date starts now, or a tenth of the time between two ticks ago, so that a tick is not lost
        to a parse in the moment after it; Airflow's own trigger timetables do the same.
        """
        return self._start(self._first_tick(now, earliest, catchup=catchup))

    def following(self, last: RunPosition, now: int, *, catchup: bool) -> tuple[Key, int] | None:
        """The run after *last* and its ``run_after``: an unfinished tick is finished first, then the newest counts."""
        current = self._ticks.floor(last.run_after)
        if current is not None:
            key = self._unfinished(current, last)
            if key is not None:
                return key, max(current, last.run_after + _MICROSECOND)
        tick = self._next_due(last.run_after)
        newest = None if catchup else self._newest_due(now)
        if newest is not None and (current is None or newest > current):
            tick = newest
        return self._start(tick)

    def first_of(self, tick: int) -> tuple[Key, int] | None:
        """The first run of a *tick* and its ``run_after``; ``None`` if it is no tick, or nothing is due."""
        return self._start(tick) if self._ticks.floor(tick) == tick else None

    def tick_of(self, run_after: int) -> int | None:
        """The tick that a run belongs to."""
        return self._ticks.floor(run_after)

    def due_tick(self, interval: Interval) -> int | None:
        """The tick that makes the partitions of *interval* due."""
        return self._ticks.after(interval.time_range[1] - 1)

    def due(self, previous: int | None, tick: int) -> DueKeys:
        """The default rule: what ends after the *previous* tick, up to *tick*; all of it without time."""
        if self._time is None:
            return SegmentDueKeys(self._definition)
        closed = self._time.last(utc(tick))
        if closed is None or (previous is not None and closed.time_range[1] <= previous):
            return ListedDueKeys(self._definition, ())
        low, high = closed.time_range
        if previous is not None:
            # What ends after the previous tick starts with the interval that holds it.
            low = min(low, self._time.overlapping(previous, previous + 1)[0])
        first = self._time.interval_at(low)
        for _ in range(self._refresh):
            first = self._time.previous(first) or first
        return RangeDueKeys(self._definition, self._time, (first.time_range[0], high))

    def _start(self, tick: int | None) -> tuple[Key, int] | None:
        key = None if tick is None else self._due_keys(tick).first()
        return None if key is None or tick is None else (key, tick)

    def _due_keys(self, tick: int) -> DueKeys:
        previous = self._ticks.floor(tick - 1)
        if self._plug_in is None:
            return self.due(previous, tick)
        keys = self._plug_in(None if previous is None else utc(previous), utc(tick))
        return ListedDueKeys(self._definition, keys)

    def _first_tick(self, now: int, earliest: int | None, *, catchup: bool) -> int | None:
        if earliest is not None and catchup:
            return self._next_due(earliest - 1)
        newest = self._newest_due(now)
        if earliest is not None:
            started = newest is not None and newest >= earliest
            return newest if started else self._next_due(max(earliest, now) - 1)
        before = None if newest is None else self._ticks.floor(newest - 1)
        if newest is not None and before is not None and now - newest <= (newest - before) // 10:
            return newest
        return self._next_due(now)

    def _unfinished(self, tick: int, last: RunPosition) -> Key | None:
        """The key after the *last* run's among those due at *tick*."""
        keys = self._due_keys(tick)
        if last.key is None:  # cleared by hand: its place among the keys is left in run_after
            place = (last.run_after - tick) // _MICROSECOND
            return next(islice(keys, place + 1, None), None)
        return keys.after(last.key, last.date)

    def _next_due(self, at: int) -> int | None:
        """The first tick after *at* that makes something due."""
        tick = self._ticks.after(at)
        if self._plug_in is not None:
            return self._search(tick, self._ticks.after)
        if self._time is None or tick is None or self._due_keys(tick).first() is not None:
            return tick
        return self._tick_of_next_end(tick)

    def _newest_due(self, now: int) -> int | None:
        """The last tick up to *now* that makes something due."""
        tick = self._ticks.floor(now)
        if self._plug_in is not None:
            return self._search(tick, lambda at: self._ticks.floor(at - 1))
        if self._time is None or tick is None:
            return tick
        closed, newest = self._definition.last_interval(utc(tick)), self._time.last(utc(tick))
        if closed is None or newest is None:
            return None
        for _ in range(self._refresh if closed != newest else 0):  # which it is made again with
            closed = min(self._time.next(closed) or closed, newest)
        return self.due_tick(closed)

    def _search(self, tick: int | None, step: Callable[[int], int | None]) -> int | None:
        """The first tick that makes something due, asking the plug-in tick by tick."""
        for _ in range(_MAX_EMPTY_TICKS):
            if tick is None or self._due_keys(tick).first() is not None:
                return tick
            tick = step(tick)
        return None

    def _tick_of_next_end(self, tick: int) -> int | None:
        """The tick that makes the first interval due that ends after *tick*."""
        interval = None if self._time is None else self._time.next_interval(utc(tick))
        if self._time is None or interval is None:
            return None
        first = interval
        for _ in range(self._refresh):
            first = self._time.previous(first) or first
        there = self._definition.next_interval(first.start)
        return None if there is None else self.due_tick(max(interval, there))
