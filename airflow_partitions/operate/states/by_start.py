"""What is known of partitions, by the start of the interval (0 without time) and the texts of the segments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TypeVar

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box

T = TypeVar("T")
#: By start and segments.
ByStart = dict[int, dict[tuple[str, ...], T]]


def by_time_range(partitions: Selection) -> Iterator[tuple[TimeRange | None, Selection]]:
    """*partitions*, each part of them that is one range of time."""
    for time_range, boxes in groupby(partitions.boxes, key=lambda box: box.time_range):
        parts = tuple(Box(time_range, box.segments) for box in boxes)
        yield time_range, Selection(partitions.definition, parts)


def those_of(selection: Selection, by_start: ByStart[T]) -> ByStart[T]:
    """Those of some partitions whose segments are in a *selection*, which is one range of time."""
    shapes = [{name: {s.text for s in some} for name, some in box.segments.items()} for box in selection.boxes]
    if {} in shapes:
        return by_start
    names = [name for name, one in selection.definition.dimensions.items() if one.time is None]
    by_first: dict[str | None, list[dict[str, set[str]]]] = {None: []}  # there may be very many
    for shape in shapes:
        for text in shape.get(names[0], (None,)):
            by_first.setdefault(text, []).append(shape)
    chosen: ByStart[T] = {}
    for start, some in by_start.items():
        here = {
            segments: one
            for segments, one in some.items()
            if any(
                all(text in shape[name] for name, text in zip(names, segments, strict=True) if name in shape)
                for shape in (*by_first.get(segments[0], ()), *by_first[None])
            )
        }
        if here:
            chosen[start] = here
    return chosen
