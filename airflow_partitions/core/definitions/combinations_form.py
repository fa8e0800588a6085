"""The JSON form of the combinations that exist."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.definitions.combinations import (
    Combinations,
    positions_of,
    rectangles_of,
)
from airflow_partitions.core.definitions.interval import PartitionByInterval
from airflow_partitions.core.definitions.only import whole


def combinations_to_json(only: Combinations, time: PartitionByInterval | None) -> list[dict[str, Any]]:
    """For the combinations that exist at the same times these, and rectangles of the positions of their segments.

    A time is from a first to before a second text, ``None`` where there is no bound; without time there are none.
    Segments are ``None`` where a rectangle has all of a dimension.
    """
    first, last = whole(time)
    everything = [(1 << size) - 1 for size in only.sizes]
    form: list[dict[str, Any]] = []
    for times, tree in only.by_times:
        rectangles = rectangles_of(tree, [None] * len(only.sizes))
        entry: dict[str, Any] = {
            "segments": [
                [None if bits == every else [*positions_of(bits)] for bits, every in zip(one, everything, strict=True)]
                for one in rectangles
            ]
        }
        if time is not None:
            entry["times"] = [
                [None if low == first else time.bound_text(low), None if high == last else time.bound_text(high)]
                for low, high in times
            ]
        form.append(entry)
    return form


def combinations_from_json(
    form: Sequence[dict[str, Any]], sizes: Sequence[int], time: PartitionByInterval | None
) -> Combinations:
    """The inverse of :func:`combinations_to_json`.

    :param sizes: numbers of the segments of the dimensions that are not time.
    """
    first, last = whole(time)
    there: list[tuple[TimeRange, tuple[int, ...]]] = []
    for entry in form:
        combinations = [
            combination
            for one in entry["segments"]
            for combination in product(
                *(range(size) if some is None else some for some, size in zip(one, sizes, strict=True))
            )
        ]
        times = [(first, last)]
        if time is not None:
            times = [
                (first if low is None else time.moment(low), last if high is None else time.moment(high))
                for low, high in entry["times"]
            ]
        there += ((time_range, combination) for time_range in times for combination in combinations)
    return Combinations.of(sizes, there)
