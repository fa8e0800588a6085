"""Rules that replace overlap between the times of two definitions.

They answer in ranges of time, whole intervals on the one side; what overlaps a range on the other side is meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import attrs

from airflow_partitions.core.calendars.duration import duration
from airflow_partitions.core.calendars.instants import TimeRange, microseconds, plain
from airflow_partitions.core.calendars.steps import ahead, back
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionByInterval
from airflow_partitions.core.dependencies.dimension_rule import ALWAYS, NEVER, DimensionRule, TimeRule, Times
from airflow_partitions.core.dependencies.rule import Sides, needs_now
from airflow_partitions.core.errors import InvalidDefinitionError


@attrs.frozen
class Overlap(TimeRule):
    """The upstream intervals that share an instant with the downstream one: what holds without a rule."""

    def by_dimension(self, sides: Sides) -> Mapping[str, DimensionRule]:
        return {}

    def needed(self, downstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        return downstream

    def needing(self, upstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        return upstream

    def to_json(self) -> dict[str, Any]:
        return {"rule": "overlap"}


def _check_count(rule: TimeRule, _: attrs.Attribute[Any], n: Any) -> None:
    if type(n) is not int or n < 1:
        raise InvalidDefinitionError(f"{type(rule).__name__}({n!r}); expected a number of intervals, at least 1")


@attrs.frozen
class Lookback(TimeRule):
    """Overlap, and what the *n* intervals before it overlap, as far as the upstream calendar goes back.

    .. code-block:: python

        Lookback(24)  # for a day of hours: its hours, and the 24 before
        Lookback(1, of="downstream")  # its hours, and all hours of the day before: 23, 24 or 25

    :param n: at least 1.
    :param of: whose intervals are counted: ``"upstream"`` or ``"downstream"``.
    """

    n: int = attrs.field(validator=_check_count)
    of: str = attrs.field(default="upstream")

    @of.validator
    def _check_of(self, _: Any, of: Any) -> None:
        if of not in ("upstream", "downstream"):
            raise InvalidDefinitionError(f"Lookback(of={of!r}); expected 'upstream' or 'downstream'")

    def needed(self, downstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        if self.of == "downstream":
            return _steps_back(times, downstream[0], self.n), downstream[1]
        start = times.upstream.calendar.floor(downstream[0])
        return (FIRST if start is None else back(times.upstream.calendar, start, self.n), downstream[1])

    def needing(self, upstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        if self.of == "downstream":
            return upstream[0], _steps_ahead(times, upstream[1], self.n)
        return upstream[0], ahead(times.upstream.calendar, upstream[1], self.n)

    def to_json(self) -> dict[str, Any]:
        return {"rule": "lookback", "n": self.n, "of": self.of}


@attrs.frozen
class Previous(TimeRule):
    """What the *n* downstream intervals before overlap, and not what the interval itself does.

    .. code-block:: python

        Previous()  # for a day of hours: the hours of the day before, 23, 24 or 25

    :param n: at least 1.
    """

    n: int = attrs.field(default=1, validator=_check_count)

    def needed(self, downstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        last = back(_downstream(times).calendar, downstream[1], 1)
        return _steps_back(times, downstream[0], self.n), last

    def needing(self, upstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        start = _downstream(times).calendar.after(upstream[0])
        return LAST if start is None else start, _steps_ahead(times, upstream[1], self.n)

    def to_json(self) -> dict[str, Any]:
        return {"rule": "previous", "n": self.n}


def _length(length: Any) -> Any:
    if isinstance(length, str):
        return duration(length)
    return plain(length) if isinstance(length, timedelta) else length  # a number is none: of seconds, or of intervals?


@attrs.frozen
class Window(TimeRule):
    """The upstream intervals that overlap the downstream one, widened by real elapsed time.

    :param before: how much earlier it starts; not negative.
    :param after: how much later it ends; not negative.
    """

    before: timedelta = attrs.field(default=timedelta(0), converter=_length)
    after: timedelta = attrs.field(default=timedelta(0), converter=_length)

    @before.validator
    @after.validator
    def _check(self, attribute: Any, length: Any) -> None:
        if not isinstance(length, timedelta) or length < timedelta(0):
            raise InvalidDefinitionError(f"Window({attribute.name}={length!r}); expected a timedelta, not negative")

    def needed(self, downstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        return _widened(downstream, self.before, self.after)

    def needing(self, upstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        return _widened(upstream, self.after, self.before)

    def to_json(self) -> dict[str, Any]:
        return {"rule": "window", "before": microseconds(self.before), "after": microseconds(self.after)}


@attrs.frozen
class AllPartitions(TimeRule):
    """Every upstream interval that is over by now, whatever the downstream one is; the upstream needs a ``start``.

    Segments that both sides have belong together as always. Of an upstream without time it means every partition, and
    in :class:`ByDimension`, under the name of a dimension of segments, all of its values.
    """

    moving = True
    timeless = True

    def needed(self, downstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        last = times.upstream.last(needs_now(self, now))
        return NEVER if last is None else (FIRST, last.time_range[1])

    def needing(self, upstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        last = times.upstream.last(needs_now(self, now))
        return NEVER if last is None or last.time_range[0] < upstream[0] else ALWAYS

    def to_json(self) -> dict[str, Any]:
        return {"rule": "all"}

    def by_dimension(self, sides: Sides) -> Mapping[str, DimensionRule]:
        return super().by_dimension(sides) if sides.upstream.time else dict.fromkeys(sides.upstream.dimensions, self)

    def check(self, upstream: PartitionByInterval) -> None:
        if upstream.start is None:
            raise InvalidDefinitionError(
                f"AllPartitions() of {upstream!r}, which is open to the past; give the upstream definition a start="
            )


@attrs.frozen
class LatestPartition(TimeRule):
    """The newest upstream interval that is over by now, whatever the downstream one is.

    Segments that both sides have belong together as always; of those only the upstream has, all.
    """

    moving = True
    timeless = True

    def needed(self, downstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        last = times.upstream.last(needs_now(self, now))
        return NEVER if last is None else last.time_range

    def needing(self, upstream: TimeRange, times: Times, now: datetime | None) -> TimeRange:
        last = times.upstream.last(needs_now(self, now))
        return ALWAYS if last is not None and upstream[0] <= last.time_range[0] < upstream[1] else NEVER

    def to_json(self) -> dict[str, Any]:
        return {"rule": "latest"}


def _downstream(times: Times) -> PartitionByInterval:
    if times.downstream is None:
        raise InvalidDefinitionError(f"a rule about downstream intervals of {times!r}; expected time on both sides")
    return times.downstream


def _steps_back(times: Times, start: int, n: int) -> int:
    """The start of the *n*-th downstream interval before the one that begins at *start*."""
    return back(_downstream(times).calendar, start, n)


def _steps_ahead(times: Times, end: int, n: int) -> int:
    """Just after the start of the *n*-th downstream interval after the last that begins before *end*."""
    calendar = _downstream(times).calendar
    start = calendar.floor(end - 1)
    return FIRST if start is None else min(ahead(calendar, start, n) + 1, LAST)


def _widened(time_range: TimeRange, before: timedelta, after: timedelta) -> TimeRange:
    low, high = time_range
    return max(FIRST, low - microseconds(before)), min(LAST, high + microseconds(after))
