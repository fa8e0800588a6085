"""Axes of a grid: where along them a partition is, and how many of a box are at each position."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import attrs

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.calendars.timeline import timeline
from airflow_partitions.core.calendars.units import UNITS
from airflow_partitions.core.definitions import PartitionByInterval, PartitionDefinition
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.keys import Segment


@attrs.frozen
class Slot:
    """Keys of a dimension side by side.

    :ivar first: text of the first; ``None`` where all dimensions are summed.
    :ivar time_range: from the begin of the first interval to the end of the last; ``None`` without time.
    """

    first: str | None
    last: str | None
    count: int
    time_range: TimeRange | None = None


class Axis(ABC):
    """Positions along one dimension of a definition."""

    #: Name of the dimension; ``None`` if there is none: all is at one position.
    name: str | None = None

    @abstractmethod
    def position(self, start: int, segments: tuple[str, ...]) -> int | None:
        """The position of a partition, by start and texts of segments; ``None`` if it has none."""

    @abstractmethod
    def counts(self, box: Box) -> Iterator[tuple[int, int]]:
        """The positions of a *box*, and how many of its keys of the dimension are at each."""

    @abstractmethod
    def slots(self) -> Sequence[Slot]:
        """What is at each position."""


@attrs.frozen
class Single(Axis):
    """One position for all."""

    def position(self, start: int, segments: tuple[str, ...]) -> int | None:
        return 0

    def counts(self, box: Box) -> Iterator[tuple[int, int]]:
        yield 0, 1

    def slots(self) -> Sequence[Slot]:
        return (Slot(None, None, 1),)


@attrs.frozen(slots=False)
class TimeAxis(Axis):
    """Intervals side by side, or slots of several.

    :ivar edges: the instants at which slots begin, and at last where the last one ends; each begins an interval.
    :ivar unit: what a whole slot is; ``interval`` if each is one.
    """

    time: PartitionByInterval
    edges: tuple[int, ...]
    unit: str

    @classmethod
    def of(cls, time: PartitionByInterval, time_range: TimeRange, most: int) -> TimeAxis:
        """The axis of a range with at most so many slots: of intervals if they fit, else the shortest unit.

        :param time_range: from where an interval begins to where one ends.
        """
        (low, high), calendar = time_range, time.calendar
        if low >= high:
            return cls(time, (low,), "interval")
        if calendar.count(low, high) <= most:
            return cls(time, (*calendar.boundaries(low, high), high), "interval")
        line = timeline(time.clock.zone)
        for unit in UNITS:
            if (high - low) // unit.longest > most:
                continue
            axis = cls.beginning(time, time_range, unit.beginnings(low, high, line), str(unit))
            if len(axis.edges) - 1 <= most:
                return axis
        return cls(time, (low, high), "all")

    @classmethod
    def beginning(cls, time: PartitionByInterval, time_range: TimeRange, moments: Iterable[int], unit: str) -> TimeAxis:
        """The axis of a range whose slots begin with the first interval at or after each of the *moments*.

        :param time_range: from where an interval begins to where one ends.
        """
        low, high = time_range
        beginnings = (time.calendar.after(at - 1) for at in moments)
        edges = {low, high, *(at for at in beginnings if at is not None and low < at < high)}
        return cls(time, tuple(sorted(edges)), unit)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.time.name

    def position(self, start: int, segments: tuple[str, ...]) -> int | None:
        i = bisect_right(self.edges, start) - 1
        return i if 0 <= i < len(self.edges) - 1 else None

    def counts(self, box: Box) -> Iterator[tuple[int, int]]:
        if box.time_range is None:
            return
        low, high = box.time_range
        first = max(bisect_right(self.edges, low) - 1, 0)
        for i in range(first, len(self.edges) - 1):
            start, end = self.edges[i : i + 2]
            if start >= high:
                return
            whole = low <= start and end <= high
            count = self._counts[i] if whole else self.time.calendar.count(max(low, start), min(high, end))
            if count:
                yield i, count

    def slots(self) -> Sequence[Slot]:
        text, floor = self.time.clock.text, self.time.calendar.floor
        return [
            Slot(text(start), text(start if count == 1 else floor(end - 1) or start), count, (start, end))
            for (start, end), count in zip(pairwise(self.edges), self._counts, strict=True)
        ]

    @cached_property
    def _counts(self) -> list[int]:
        """Numbers of intervals of the slots."""
        if self.unit == "interval":
            return [1] * (len(self.edges) - 1)
        return [self.time.calendar.count(start, end) for start, end in pairwise(self.edges)]


@attrs.frozen(slots=False)
class SegmentAxis(Axis):
    """Segments in their order, or slots of several.

    :ivar index: which of the segments of a place are those of the dimension.
    :ivar texts: of the segments.
    :ivar size: number of segments of a slot; the last one may have fewer.
    """

    dimension: PartitionDefinition
    index: int
    texts: tuple[str, ...]
    size: int = 1

    @classmethod
    def of(
        cls, definition: PartitionDefinition, name: str, segments: Sequence[Segment], most: int | None
    ) -> SegmentAxis:
        """The axis of the dimension of that *name*.

        :param most: slots; by default as many as there are segments.
        """
        names = [each for each, one in definition.dimensions.items() if one.time is None]
        size = 1 if most is None else max(1, -(-len(segments) // most))
        return cls(definition.dimensions[name], names.index(name), tuple(s.text for s in segments), size)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.dimension.name

    def position(self, start: int, segments: tuple[str, ...]) -> int | None:
        return self._positions.get(segments[self.index])

    def counts(self, box: Box) -> Iterator[tuple[int, int]]:
        if (chosen := box.segments.get(self.dimension.name)) is None:
            yield from enumerate(self._counts)
            return
        counts: dict[int, int] = {}
        for segment in chosen:
            if (i := self._positions.get(segment.text)) is not None:
                counts[i] = counts.get(i, 0) + 1
        yield from counts.items()

    def slots(self) -> Sequence[Slot]:
        starts = range(0, len(self.texts), self.size)
        return [
            Slot(self.texts[start], self.texts[start + count - 1], count)
            for start, count in zip(starts, self._counts, strict=True)
        ]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {text: i // self.size for i, text in enumerate(self.texts)}

    @cached_property
    def _counts(self) -> list[int]:
        return [min(self.size, len(self.texts) - start) for start in range(0, len(self.texts), self.size)]


def others(definition: PartitionDefinition, box: Box, axes: Sequence[Axis]) -> int:
    """Number of the combinations of a *box* along the dimensions that no axis has."""
    number = 1
    names = {axis.name for axis in axes}
    for name, dimension in definition.dimensions.items():
        if name in names:
            continue
        if dimension.time is not None:
            number *= 0 if box.time_range is None else dimension.time.calendar.count(*box.time_range)
        else:
            chosen: Any = box.segments.get(name)
            number *= dimension.count() if chosen is None else len(chosen)
    return number
