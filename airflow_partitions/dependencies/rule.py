"""Rules that replace overlap between the times of two definitions.

A rule answers in both directions, as a stretch of time; the partitions of the other side that overlap it are meant.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import timedelta
from typing import Any

import attrs

from airflow_partitions.calendars.timeline import FIRST, LAST
from airflow_partitions.definitions import PartitionByInterval
from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.keys import Interval

Stretch = tuple[int, int]


class Rule(ABC):
    """Which upstream intervals a downstream interval needs. Instants are microseconds since the epoch."""

    @abstractmethod
    def needed(self, downstream: Interval, upstream: PartitionByInterval) -> Stretch:
        """The stretch whose overlapping *upstream* intervals the *downstream* interval needs."""

    @abstractmethod
    def needing(self, upstream: Interval, definition: PartitionByInterval) -> Stretch:
        """The stretch whose overlapping downstream intervals need the *upstream* interval of *definition*."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :func:`rule_from_json`."""


@attrs.frozen
class Overlap(Rule):
    """The upstream intervals that share an instant with the downstream one: what holds without a rule."""

    def needed(self, downstream: Interval, upstream: PartitionByInterval) -> Stretch:
        return downstream.bounds

    def needing(self, upstream: Interval, definition: PartitionByInterval) -> Stretch:
        return upstream.bounds

    def to_json(self) -> dict[str, Any]:
        return {"rule": "overlap"}


@attrs.frozen
class Lookback(Rule):
    """Overlap, and the *n* upstream intervals before it, as far as the upstream calendar goes back.

    :param n: at least 1.
    """

    n: int = attrs.field()

    @n.validator
    def _check(self, _: Any, given: Any) -> None:
        if type(given) is not int or given < 1:
            raise InvalidDefinitionError(f"Lookback({given!r}); expected a number of upstream intervals, at least 1")

    def needed(self, downstream: Interval, upstream: PartitionByInterval) -> Stretch:
        low, high = downstream.bounds
        start = upstream.calendar.floor(low)
        for _ in range(self.n):
            start = None if start is None else upstream.calendar.floor(start - 1)
        return (FIRST if start is None else start, high)

    def needing(self, upstream: Interval, definition: PartitionByInterval) -> Stretch:
        low, end = upstream.bounds
        for _ in range(self.n):
            end = definition.calendar.after(end) or LAST
        return low, end

    def to_json(self) -> dict[str, Any]:
        return {"rule": "lookback", "n": self.n}


@attrs.frozen
class Window(Rule):
    """The upstream intervals that overlap the downstream one, widened by real elapsed time.

    :param before: how much earlier it starts; not negative.
    :param after: how much later it ends; not negative.
    """

    before: timedelta = attrs.field(default=timedelta(0))
    after: timedelta = attrs.field(default=timedelta(0))

    @before.validator
    @after.validator
    def _check(self, attribute: Any, given: Any) -> None:
        if not isinstance(given, timedelta) or given < timedelta(0):
            raise InvalidDefinitionError(f"Window({attribute.name}={given!r}); expected a timedelta, not negative")

    def needed(self, downstream: Interval, upstream: PartitionByInterval) -> Stretch:
        return _widened(downstream, self.before, self.after)

    def needing(self, upstream: Interval, definition: PartitionByInterval) -> Stretch:
        return _widened(upstream, self.after, self.before)

    def to_json(self) -> dict[str, Any]:
        return {"rule": "window", "before": self.before.total_seconds(), "after": self.after.total_seconds()}


def rule_from_json(data: dict[str, Any]) -> Rule:
    """The rule whose :meth:`~Rule.to_json` gave *data*."""
    match data:
        case {"rule": "overlap"}:
            return Overlap()
        case {"rule": "lookback", "n": n}:
            return Lookback(n)
        case {"rule": "window", "before": before, "after": after}:
            return Window(timedelta(seconds=before), timedelta(seconds=after))
    raise InvalidDefinitionError(f"{data!r} is not the JSON form of a rule")


def _widened(interval: Interval, before: timedelta, after: timedelta) -> Stretch:
    low, high = interval.bounds
    microsecond = timedelta(microseconds=1)
    return max(FIRST, low - before // microsecond), min(LAST, high + after // microsecond)
