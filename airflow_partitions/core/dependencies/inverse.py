"""Check that a rule answers the same in both directions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice

from airflow_partitions.core.calendars.steps import ahead, back
from airflow_partitions.core.calendars.timeline import timeline
from airflow_partitions.core.calendars.zones import zone
from airflow_partitions.core.definitions import (
    PartitionAtRuntime,
    PartitionByInterval,
    PartitionByProduct,
    PartitionDefinition,
)
from airflow_partitions.core.dependencies.box import intervals
from airflow_partitions.core.dependencies.dependency import Dependency
from airflow_partitions.core.dependencies.selection import Selection
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Interval, Key

_YEAR = timedelta(days=366) // timedelta(microseconds=1)
_NEAR = 3
_SEGMENTS = 8
_ANSWERS = 12


def check_inverse(dependency: Dependency, now: datetime) -> None:
    """Refuse a rule whose two directions contradict each other.

    Tried are keys at the start of the calendars, around the clock changes of the year before *now*, and around *now*.
    Keys known only at runtime can't be tried.

    :raises InvalidDefinitionError: naming the two keys, or the key that the rule could not answer for.
    """
    downstream, upstream = dependency.sides.downstream, dependency.sides.upstream
    if dependency.needs_tick:
        return
    for down in sample(downstream, now):
        for up in islice(_upstream(dependency, down, now), _ANSWERS):
            if down not in _downstream(dependency, up, now):
                raise InvalidDefinitionError(
                    f"{dependency.rule!r} contradicts itself: by upstream() the downstream key {str(down)!r} needs the"
                    f" upstream key {str(up)!r}, but downstream() of that does not name it; make one the inverse of the"
                    " other"
                )
    for up in sample(upstream, now):
        for down in islice(_downstream(dependency, up, now), _ANSWERS):
            if up not in _upstream(dependency, down, now):
                raise InvalidDefinitionError(
                    f"{dependency.rule!r} contradicts itself: by downstream() the upstream key {str(up)!r} is needed by"
                    f" the downstream key {str(down)!r}, but upstream() of that does not name it; make one the inverse"
                    " of the other"
                )


def sample(definition: PartitionDefinition, now: datetime) -> Iterator[Key]:
    """Some keys of a *definition*, the same each time."""
    if isinstance(definition, PartitionAtRuntime):
        return
    if definition.time is None:
        yield from islice(definition.keys(), _SEGMENTS)
        return
    for interval in _intervals(definition.time, now):
        if isinstance(definition, PartitionByProduct):
            yield from islice(definition.keys_of(interval), _SEGMENTS)
        else:
            yield interval


def _intervals(time: PartitionByInterval, now: datetime) -> Iterator[Interval]:
    """Intervals about the calendar's start, the clock changes of a year, and *now*."""
    at = time.moment(now, "now")
    first = time.first()
    places = [at] if first is None else [first.time_range[0], at]
    for period in timeline(zone(time.timezone)).forward(at - _YEAR):
        if period.start >= at:
            break
        if period.offset != period.before:
            places.append(period.start)
    seen: set[Interval] = set()
    for place in places:
        start = time.calendar.floor(place)
        if start is not None:
            time_range = time.overlapping(back(time.calendar, start, _NEAR), ahead(time.calendar, start, _NEAR))
            for interval in intervals(time, time_range):
                if interval not in seen:
                    seen.add(interval)
                    yield interval


def _upstream(dependency: Dependency, key: Key, now: datetime) -> Selection:
    try:
        return dependency.upstream(key, now=now)
    except InvalidKeyError as error:
        raise _unanswered(dependency, key, error) from error


def _downstream(dependency: Dependency, key: Key, now: datetime) -> Selection:
    try:
        return dependency.downstream(key, now=now)
    except InvalidKeyError as error:
        raise _unanswered(dependency, key, error) from error


def _unanswered(dependency: Dependency, key: Key, error: InvalidKeyError) -> InvalidDefinitionError:
    return InvalidDefinitionError(f"{dependency.rule!r} has no answer for the key {str(key)!r}: {error}")
