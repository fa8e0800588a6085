"""What exists of boxes, where a product has only some of its combinations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import groupby
from operator import or_

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.definitions.combinations import Rectangle, rectangles_of
from airflow_partitions.core.dependencies.areas import Area, Areas
from airflow_partitions.core.dependencies.box import Box

#: More stretches of time than these are not put together.
_MOST_TRIED = 32


def existing(definition: PartitionDefinition, box: Box) -> Iterator[Box]:
    """The boxes of the keys in a *box* that exist, in order; they share no key."""
    only = definition.only
    if only is None:
        yield box
        return
    areas = Areas(definition, ())
    chosen = areas.of(box.segments)
    low, high = box.time_range or (FIRST, LAST)
    pieces: list[tuple[int, int, tuple[Rectangle, ...]]] = []
    for phase in only.phases_within(low, high):
        rectangles = rectangles_of(phase.tree, chosen)
        if pieces and pieces[-1][1:] == (phase.low, rectangles):
            pieces[-1] = pieces[-1][0], phase.high, rectangles
        elif rectangles:
            pieces.append((phase.low, phase.high, rectangles))
    for low, high, rectangles in pieces:
        for rectangle in rectangles:
            area: Area = tuple(p.shortened(bits) for p, bits in zip(areas.positions, rectangle, strict=True))
            yield Box(None if box.time_range is None else (low, high), areas.segments(area))


def widened(definition: PartitionDefinition, boxes: Sequence[Box]) -> tuple[Box, ...]:
    """Fewer boxes for the same keys, which may hold others that don't exist; the same for the same *boxes*.

    :param boxes: canonical ones of keys that exist.
    """
    if definition.only is None or not boxes:
        return tuple(boxes)
    time, areas = definition.time, Areas(definition, ())
    everything = Box(None if time is None else time.overlapping(FIRST, LAST))
    size = sum(_size(definition, box) for box in boxes)
    for one in (everything, _around(areas, boxes)):
        if _size_of_existing(definition, one) == size:
            return (one,)
    wide: list[Box] = []
    groups = [tuple(some) for _, some in groupby(boxes, key=lambda box: box.time_range)]
    for some in groups:
        one, size = _around(areas, some), sum(_size(definition, box) for box in some)
        if len(some) > 1 and _size_of_existing(definition, one) != size:
            wide += some
            continue
        if wide and len(groups) <= _MOST_TRIED:
            both = _around(areas, (wide[-1], one))
            if _size_of_existing(definition, both) == _size_of_existing(definition, wide[-1]) + size:
                one = both
                wide.pop()
        wide.append(one)
    return tuple(wide)


def _around(areas: Areas, boxes: Sequence[Box]) -> Box:
    """The box around *boxes*."""
    ranges: list[TimeRange] = [box.time_range for box in boxes if box.time_range is not None]
    columns = zip(*(areas.of(box.segments) for box in boxes), strict=True)
    around = (
        None if None in column else positions.shortened(reduce(or_, filter(None, column), 0))
        for positions, column in zip(areas.positions, columns, strict=True)
    )
    time_range = (min(low for low, _ in ranges), max(high for _, high in ranges)) if ranges else None
    return Box(time_range, areas.segments(tuple(around)))


def _size_of_existing(definition: PartitionDefinition, box: Box) -> int:
    return sum(_size(definition, each) for each in existing(definition, box))


def _size(definition: PartitionDefinition, box: Box) -> int:
    """Number of the keys of a *box*, all of which exist."""
    time = definition.time
    times = 1 if time is None or box.time_range is None else time.calendar.count(*box.time_range)
    areas = Areas(definition, ())
    return times * areas.segments(areas.of(box.segments)).combinations()
