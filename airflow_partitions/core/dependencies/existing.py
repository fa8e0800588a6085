"""What exists of boxes, where a product has only some of its combinations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.definitions.combinations import Rectangle, rectangles_of
from airflow_partitions.core.dependencies.areas import Area, Areas
from airflow_partitions.core.dependencies.box import Box, snapped


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


def enclosing(definition: PartitionDefinition, boxes: Sequence[Box]) -> Box | None:
    """One box with the keys of *boxes*, which share none, and no other ones that exist; ``None`` if there is none."""
    time, areas = definition.time, Areas(definition, ())
    size = sum(_size(definition, box) for box in boxes)
    everything = Box(None if time is None else time.overlapping(FIRST, LAST))
    some = (everything, _around(areas, boxes)) if boxes else ()
    one = next((box for box in some if _size_of_existing(definition, box) == size), None)
    if one is None or time is None or one.time_range is None:
        return one
    return Box(snapped(time, one.time_range), one.segments)


def widened(definition: PartitionDefinition, boxes: Sequence[Box]) -> Iterator[Box]:
    """Fewer boxes for the keys of *boxes*, which share none; they may hold others that don't exist.

    They are the same for the same *boxes*.
    """
    areas = Areas(definition, ())
    last: tuple[Box, int] | None = None
    for box, size in _together(definition, areas, boxes):
        if last is not None:
            both = _around(areas, (last[0], box))
            if _size_of_existing(definition, both) == last[1] + size:
                last = both, last[1] + size
                continue
            yield last[0]
        last = box, size
    if last is not None:
        yield last[0]


def _together(definition: PartitionDefinition, areas: Areas, boxes: Sequence[Box]) -> Iterator[tuple[Box, int]]:
    """Boxes around as many of *boxes* side by side as by halves can be, each with the number of its keys."""
    if not boxes:
        return
    size = sum(_size(definition, box) for box in boxes)
    one = _around(areas, boxes)
    if len(boxes) == 1 or _size_of_existing(definition, one) == size:
        yield one, size
        return
    middle = len(boxes) // 2
    yield from _together(definition, areas, boxes[:middle])
    yield from _together(definition, areas, boxes[middle:])


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
