"""Boxes, and combinations of two sets of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import attrs

from airflow_partitions.calendars.instants import TimeRange
from airflow_partitions.calendars.timeline import LAST
from airflow_partitions.definitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionBySequence,
    PartitionDefinition,
)
from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.keys import Interval, Segment

#: Whether a key stays that is, or is not, in the one set and in the other.
Keep: TypeAlias = Callable[[bool, bool], bool]
#: Chosen segments by dimension, hashable; a dimension left out means all of them.
Area: TypeAlias = tuple[tuple[str, tuple[Segment, ...]], ...]


@attrs.frozen
class Box:
    """Keys whose interval starts in *time_range* and whose segments are among *segments*.

    :ivar time_range: half-open range of instants in microseconds since the epoch, ``None`` without a time dimension.
    :ivar segments: for each dimension that is not time, the chosen segments in the dimension's order; a dimension left
        out means all of them.
    """

    time_range: TimeRange | None
    segments: Mapping[str, tuple[Segment, ...]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, definition: PartitionDefinition, key: Any) -> Box:
        """The box of one *key*, wrapped, plain or its text."""
        wrapped = definition.parse(key) if isinstance(key, str) else definition.key(key)
        time_range, segments = None, {}
        for name, part in definition.dimensions_of(wrapped).items():
            if isinstance(part, Interval):
                time_range = part.time_range
            else:
                segments[name] = (part,)
        return cls(time_range, segments)

    def holds(self, parts: Mapping[str, Interval | Segment]) -> bool:
        """Whether the key made of *parts* is inside."""
        for name, part in parts.items():
            if isinstance(part, Interval):
                if self.time_range is None or not self.time_range[0] <= part.time_range[0] < self.time_range[1]:
                    return False
            elif (chosen := self._sets.get(name)) is not None and part not in chosen:
                return False
        return True

    @cached_property
    def _sets(self) -> Mapping[str, frozenset[Segment]]:
        return {name: frozenset(chosen) for name, chosen in self.segments.items()}


def combined(
    definition: PartitionDefinition, ones: Sequence[Box], others: Sequence[Box], keep: Keep
) -> tuple[Box, ...]:
    """The boxes of the keys that *keep* chooses by whether they are in *ones* and in *others*.

    They share no key, are in order, and are the same for the same set of keys. No key is listed: time is cut where a
    box begins or ends, and what holds between two cuts is worked out once for all cuts with the same boxes.
    """
    areas = _Areas(definition, keep)
    sides = [(side, areas.number(box), box.time_range) for side, boxes in enumerate((ones, others)) for box in boxes]
    time = definition.time
    if time is None:
        return tuple(Box(None, dict(area)) for area in areas.of(frozenset((side, number) for side, number, _ in sides)))
    pieces: list[tuple[int, int, tuple[Area, ...]]] = []
    for low, high, there in _slabs(time, sides):
        chosen = areas.of(there)
        if pieces and pieces[-1][1] == low and pieces[-1][2] == chosen:
            pieces[-1] = pieces[-1][0], high, chosen
        elif chosen:
            pieces.append((low, high, chosen))
    return tuple(Box((low, high), dict(area)) for low, high, chosen in pieces for area in chosen)


def intervals(time: PartitionByInterval, time_range: TimeRange) -> Iterator[Interval]:
    """The intervals that start in *time_range*, which lies inside the definition's bounds."""
    calendar, clock, between = time.calendar, time.clock, Interval.between
    start = calendar.after(time_range[0] - 1)
    if start is None or start >= time_range[1]:
        return
    end = calendar.after(start) or LAST
    if end < time_range[1]:  # more than one
        last = calendar.floor(time_range[1] - 1)
        end = LAST if last is None else calendar.after(last) or LAST
        for low, high in pairwise(calendar.boundaries(start, end + 1)):
            yield between(low, high, clock)
    else:
        yield between(start, end, clock)


def snapped(time: PartitionByInterval, time_range: TimeRange) -> TimeRange:
    """*time_range* with its ends at boundaries, for the same intervals."""
    low, high = (time.calendar.after(bound - 1) for bound in time_range)
    return LAST if low is None else low, LAST if high is None else high


def _slabs(
    time: PartitionByInterval, sides: Iterable[tuple[int, int, TimeRange | None]]
) -> Iterator[tuple[int, int, frozenset[tuple[int, int]]]]:
    """Time cut where boxes begin and end, and the side and number of the boxes between two cuts."""
    cuts: dict[int, list[tuple[tuple[int, int], int]]] = {}
    for side, number, time_range in sides:
        if time_range is not None:
            low, high = snapped(time, time_range)
            cuts.setdefault(low, []).append(((side, number), 1))
            cuts.setdefault(high, []).append(((side, number), -1))
    there: Counter[tuple[int, int]] = Counter()
    for low, high in pairwise(sorted(cuts)):
        for who, change in cuts[low]:
            there[who] += change
        there = +there
        yield low, high, frozenset(there)


class _Areas:
    """Choices of the segment dimensions, by the numbers of the boxes that are there."""

    def __init__(self, definition: PartitionDefinition, keep: Keep) -> None:
        self._dimensions = [d for d in definition.dimensions.values() if not isinstance(d, PartitionByInterval)]
        self._keep = keep
        self._numbers: dict[Area, int] = {}
        self._boxes: list[Mapping[str, tuple[Segment, ...]]] = []
        self._cache: dict[frozenset[tuple[int, int]], tuple[Area, ...]] = {}

    def number(self, box: Box) -> int:
        """One number for all boxes with these segments."""
        number = self._numbers.setdefault(
            tuple(sorted(box.segments.items(), key=lambda item: item[0])), len(self._boxes)
        )
        if number == len(self._boxes):
            self._boxes.append(box.segments)
        return number

    def of(self, there: frozenset[tuple[int, int]]) -> tuple[Area, ...]:
        """The chosen areas where the boxes with these sides and numbers are."""
        if there not in self._cache:
            self._cache[there] = self._cut(0, there)
        return self._cache[there]

    def _cut(self, depth: int, there: frozenset[tuple[int, int]]) -> tuple[Area, ...]:
        """Values of a dimension that have the same areas in the dimensions after it go together."""
        if depth == len(self._dimensions):
            sides = {side for side, _ in there}
            return ((),) if self._keep(0 in sides, 1 in sides) else ()
        dimension = self._dimensions[depth]
        everywhere = {who for who in there if dimension.name not in self._boxes[who[1]]}
        holders: dict[Segment, set[tuple[int, int]]] = {}
        for who in there - everywhere:
            for segment in self._boxes[who[1]][dimension.name]:
                holders.setdefault(segment, set()).add(who)
        together: dict[tuple[Area, ...], list[Segment]] = {}
        for segment in in_order(dimension, holders, everything=bool(everywhere)):
            rest = self._cut(depth + 1, frozenset(everywhere | holders.get(segment, set())))
            if rest:
                together.setdefault(rest, []).append(segment)
        return tuple(
            (((dimension.name, tuple(chosen)),) if _some(dimension, chosen) else ()) + area
            for rest, chosen in together.items()
            for area in rest
        )


def in_order(
    dimension: PartitionDefinition, segments: Iterable[Segment], *, everything: bool = False
) -> tuple[Segment, ...]:
    """*segments* of a *dimension*, or all of them, in its order."""
    if isinstance(dimension, PartitionBySequence):
        chosen = None if everything else set(segments)
        return tuple(segment for segment in dimension.segments if chosen is None or segment in chosen)
    if everything:
        raise InvalidDefinitionError(f"{dimension!r} has no list of all keys; name the keys that are meant")
    return tuple(sorted(segments, key=str))


def _some(dimension: PartitionDefinition, chosen: Sequence[Segment]) -> bool:
    """Whether not all values are chosen."""
    return isinstance(dimension, PartitionAtRuntime) or len(chosen) < dimension.count()
