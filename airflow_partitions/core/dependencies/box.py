"""Boxes, and combinations of two sets of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import attrs

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.calendars.timeline import LAST
from airflow_partitions.core.definitions import (
    PartitionByInterval,
    PartitionBySequence,
    PartitionDefinition,
)
from airflow_partitions.core.dependencies.areas import Area, AreaCombination, Areas, Keep, SidedAreas
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Interval, Key, Segment


def wrapped(definition: PartitionDefinition, key: Any) -> Key:
    """A *key*, wrapped, plain or its text, as the key of a *definition* that it is.

    :raises InvalidKeyError: if it is none.
    """
    return definition.parse(key) if isinstance(key, str) else definition.key(key)


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
        time_range, segments = None, {}
        for name, part in definition.dimensions_of(wrapped(definition, key)).items():
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
    areas = Areas(definition, [box.segments for box in (*ones, *others)])
    combination = AreaCombination(areas.positions, keep)
    sides = [
        ((side, area), box.time_range)
        for side, boxes in enumerate((ones, others))
        for box in boxes
        if 0 not in (area := areas.of(box.segments))
    ]
    time = definition.time
    if time is None:
        return tuple(Box(None, areas.segments(area)) for area in combination.of(frozenset(side for side, _ in sides)))
    pieces: list[tuple[int, int, tuple[Area, ...]]] = []
    for low, high, there in _slabs(time, sides):
        chosen = combination.of(there)
        if pieces and pieces[-1][1] == low and pieces[-1][2] == chosen:
            pieces[-1] = pieces[-1][0], high, chosen
        elif chosen:
            pieces.append((low, high, chosen))
    return tuple(Box((low, high), areas.segments(area)) for low, high, chosen in pieces for area in chosen)


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
    time: PartitionByInterval, sides: Iterable[tuple[tuple[int, Area], TimeRange | None]]
) -> Iterator[tuple[int, int, SidedAreas]]:
    """Time cut where boxes begin and end, and the areas between two cuts."""
    cuts: dict[int, list[tuple[tuple[int, Area], int]]] = {}
    for area, time_range in sides:
        if time_range is not None:
            low, high = snapped(time, time_range)
            cuts.setdefault(low, []).append((area, 1))
            cuts.setdefault(high, []).append((area, -1))
    there: Counter[tuple[int, Area]] = Counter()
    for low, high in pairwise(sorted(cuts)):
        for area, change in cuts[low]:
            there[area] += change
            if not there[area]:
                del there[area]
        yield low, high, frozenset(there)


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
