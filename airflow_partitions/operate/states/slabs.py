"""Slabs: stretches of time in which the same holds for each interval."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from airflow_partitions.core.calendars.timeline import LAST
from airflow_partitions.core.definitions import PartitionByInterval, PartitionBySequence, PartitionDefinition
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.keys import Segment

T = TypeVar("T")


def slabs(time: PartitionByInterval, by_start: Mapping[int, T]) -> Iterator[tuple[int, int, T]]:
    """Intervals side by side for which the same holds, in order: where the first starts, where the last ends, and it.

    :param by_start: what holds, by the start of an interval.
    """
    starts = sorted(by_start)
    i = 0
    while i < len(starts):
        same = by_start[starts[i]]
        j = i + 1
        while j < len(starts) and by_start[starts[j]] == same:
            j += 1
        while i < j:
            length = _side_by_side(time, starts, i, j)
            yield starts[i], time.calendar.after(starts[i + length - 1]) or LAST, same
            i += length


def _side_by_side(time: PartitionByInterval, starts: Sequence[int], i: int, j: int) -> int:
    """How many of the intervals from the *i*-th to before the *j*-th follow the first one without a gap."""
    calendar, start = time.calendar, starts[i]
    if j - i == 1 or calendar.after(start) != starts[i + 1]:
        return 1
    return bisect_right(range(1, j - i + 1), 0, key=lambda n: calendar.count(start, starts[i + n - 1] + 1) - n)


def selection_of(definition: PartitionDefinition, places: Mapping[int, Iterable[tuple[str, ...]]]) -> Selection:
    """The selection of partitions that are told by start (0 without time) and texts of segments."""
    if definition.time is None:
        return Selection(definition, tuple(Box(None, some) for some in rectangles(definition, places.get(0, ()))))
    sets = {start: frozenset(some) for start, some in places.items()}
    shapes: dict[frozenset[tuple[str, ...]], list[dict[str, tuple[Segment, ...]]]] = {}
    boxes: list[Box] = []
    for low, high, combinations in slabs(definition.time, sets):
        if combinations not in shapes:
            shapes[combinations] = rectangles(definition, combinations)
        boxes += (Box((low, high), segments) for segments in shapes[combinations])
    return Selection(definition, tuple(boxes))


def rectangles(
    definition: PartitionDefinition, combinations: Iterable[tuple[str, ...]]
) -> list[dict[str, tuple[Segment, ...]]]:
    """*combinations* of segments, by their texts, as few sets of segments by dimension; all of one are left out."""
    dimensions = [one for one in definition.dimensions.values() if not isinstance(one, PartitionByInterval)]
    return _rectangles(dimensions, set(combinations))


def _rectangles(
    dimensions: Sequence[PartitionDefinition], combinations: set[tuple[str, ...]]
) -> list[dict[str, tuple[Segment, ...]]]:
    if not combinations:
        return []
    if not dimensions:
        return [{}]
    dimension, *others = dimensions
    rests: dict[str, set[tuple[str, ...]]] = {}
    for first, *rest in combinations:
        rests.setdefault(first, set()).add(tuple(rest))
    together: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for text, some in rests.items():
        together.setdefault(frozenset(some), []).append(text)
    boxes = []
    for same, texts in together.items():
        chosen = _in_order(dimension, texts)
        everything = isinstance(dimension, PartitionBySequence) and len(chosen) == len(dimension.segments)
        segments = {} if everything else {dimension.name: chosen}
        boxes += [segments | rest for rest in _rectangles(others, set(same))]
    return boxes


def _in_order(dimension: PartitionDefinition, texts: Iterable[str]) -> tuple[Segment, ...]:
    if isinstance(dimension, PartitionBySequence):
        chosen = set(texts)
        return tuple(segment for segment in dimension.segments if segment.text in chosen)
    keys = (dimension.parse(text) for text in sorted(texts))
    return tuple(key for key in keys if isinstance(key, Segment))
