"""Rules that replace overlap between the times of two definitions.

They answer in ranges of time, whole intervals on the one side; what overlaps a range on the other side is meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import attrs

from airflow_partitions.calendars.instants import TimeRange, microseconds, plain
from airflow_partitions.calendars.steps import ahead, back
from airflow_partitions.calendars.timeline import FIRST, LAST
from airflow_partitions.definitions import PartitionByInterval
from airflow_partitions.dependencies.dimension_rule import ALWAYS, NEVER, DimensionRule, TimeRule
from airflow_partitions.dependencies.rule import Sides, needs_now
from airflow_partitions.errors import InvalidDefinitionError


@attrs.frozen
class Overlap(TimeRule):
    """The upstream intervals that share an instant with the downstream one: what holds without a rule."""

    def by_dimension(self, sides: Sides) -> Mapping[str, DimensionRule]:
        return {}

    def needed(self, downstream: TimeRange, upstream: PartitionByInterval, now: datetime | None) -> TimeRange:
        return downstream

    def needing(self, upstream: TimeRange, definition: PartitionByInterval, now: datetime | None) -> TimeRange:
        return upstream

    def to_json(self) -> dict[str, Any]:
        return {"rule": "overlap"}


@attrs.frozen
class Lookback(TimeRule):
    """Overlap, and the *n* upstream intervals before it, as far as the upstream calendar goes back.

    :param n: at least 1.
    """

    n: int = attrs.field()

    @n.validator
    def _check(self, _: Any, n: Any) -> None:
        if type(n) is not int or n < 1:
            raise InvalidDefinitionError(f"Lookback({n!r}); expected a number of upstream intervals, at least 1")

    def needed(self, downstream: TimeRange, upstream: PartitionByInterval, now: datetime | None) -> TimeRange:
        start = upstream.calendar.floor(downstream[0])
        return (FIRST if start is None else back(upstream.calendar, start, self.n), downstream[1])

    def needing(self, upstream: TimeRange, definition: PartitionByInterval, now: datetime | None) -> TimeRange:
        return upstream[0], ahead(definition.calendar, upstream[1], self.n)

    def to_json(self) -> dict[str, Any]:
        return {"rule": "lookback", "n": self.n}


def _length(length: Any) -> Any:
    return plain(length) if isinstance(length, timedelta) else length


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

    def needed(self, downstream: TimeRange, upstream: PartitionByInterval, now: datetime | None) -> TimeRange:
        return _widened(downstream, self.before, self.after)

    def needing(self, upstream: TimeRange, definition: PartitionByInterval, now: datetime | None) -> TimeRange:
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

    def needed(self, downstream: TimeRange, upstream: PartitionByInterval, now: datetime | None) -> TimeRange:
        last = upstream.last(needs_now(self, now))
        return NEVER if last is None else (FIRST, last.time_range[1])

    def needing(self, upstream: TimeRange, definition: PartitionByInterval, now: datetime | None) -> TimeRange:
        last = definition.last(needs_now(self, now))
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

    def needed(self, downstream: TimeRange, upstream: PartitionByInterval, now: datetime | None) -> TimeRange:
        last = upstream.last(needs_now(self, now))
        return NEVER if last is None else last.time_range

    def needing(self, upstream: TimeRange, definition: PartitionByInterval, now: datetime | None) -> TimeRange:
        last = definition.last(needs_now(self, now))
        return ALWAYS if last is not None and upstream[0] <= last.time_range[0] < upstream[1] else NEVER

    def to_json(self) -> dict[str, Any]:
        return {"rule": "latest"}


def _widened(time_range: TimeRange, before: timedelta, after: timedelta) -> TimeRange:
    low, high = time_range
    return max(FIRST, low - microseconds(before)), min(LAST, high + microseconds(after))
