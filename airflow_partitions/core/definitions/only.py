"""What an author says of the combinations that exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions.combinations import Combination
from airflow_partitions.core.definitions.interval import PartitionByInterval
from airflow_partitions.core.definitions.sequence import PartitionBySequence
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Interval, Segment
from airflow_partitions.core.keys.product_key import split_parts

Dimension: TypeAlias = PartitionByInterval | PartitionBySequence
#: A list of combinations; or what exists with each key of the first dimension, as a mapping or a function.
Only: TypeAlias = Mapping[Any, Any] | Sequence[Any] | Callable[[Any], Iterable[Any]]

_EXPECTED = "expected {'de': ['berlin', 'bonn']}, a list of combinations, or a function of the first dimension's key"
#: So many keys a function is asked about at most.
_MOST_ASKED = 100_000


def read_only(dimensions: Sequence[Dimension], only: Any) -> Iterator[tuple[TimeRange, Combination]]:
    """The combinations that *only* names: a range of time in which intervals begin, and positions of segments.

    :raises InvalidDefinitionError: if it is none of the forms of :class:`PartitionByProduct`, or names what a dimension
        has not.
    """
    if isinstance(only, Mapping):
        yield from _by_first(dimensions, only.items())
    elif isinstance(only, Sequence) and not isinstance(only, str | bytes):
        for combination in only:
            yield _combination(dimensions, combination, combination)
    elif callable(only):
        yield from _by_first(dimensions, _answers(dimensions[0], only))
    else:
        raise InvalidDefinitionError(f"only={only!r} says nothing of combinations; {_EXPECTED}")


def whole(time: PartitionByInterval | None) -> TimeRange:
    """The range of time in which all intervals begin; of all instants without time."""
    return (FIRST, LAST) if time is None else time.overlapping(FIRST, LAST)


def _answers(first: Dimension, only: Callable[[Any], Any]) -> Iterator[tuple[Any, Any]]:
    """What a function says of each key of the *first* dimension."""
    if isinstance(first, PartitionByInterval):
        if first.start is None or first.end is None:
            raise InvalidDefinitionError(
                f"only={only!r} is asked about each key of the first dimension, but {first!r} has no end of them; give"
                " it start= and end=, or say from when to when a combination exists, without a function:"
                " {'2013-03-01..': ['ann']}"
            )
        if (number := first.count()) > _MOST_ASKED:
            raise InvalidDefinitionError(
                f"only={only!r} would be asked about each of the {number:,} keys of {first!r}; expected at most"
                f" {_MOST_ASKED:,}. Say from when to when a combination exists, without a function:"
                " {'2013-03-01..': ['ann']}"
            )
    keys: Iterator[Interval | Segment] = first.keys()
    for key in keys:
        yield key, only(key if isinstance(key, Interval) else key.value)


def _by_first(
    dimensions: Sequence[Dimension], answers: Iterable[tuple[Any, Any]]
) -> Iterator[tuple[TimeRange, Combination]]:
    _, *others = dimensions
    for key, answer in answers:
        there = [answer] if isinstance(answer, str) else answer
        if not isinstance(there, Iterable) or isinstance(there, Mapping | bytes):
            raise InvalidDefinitionError(
                f"only= has {there!r} for {_shown(key)}; expected a list of what exists with it, of"
                f" {' and '.join(other.name for other in others)}"
            )
        for rest in there:
            parts = [rest] if len(others) == 1 else _parts(others, rest, (key, rest))
            yield _combination(dimensions, [key, *parts], (key, rest))


def _parts(dimensions: Sequence[Dimension], given: Any, shown: Any) -> list[Any]:
    """The parts of what was *given* for several dimensions, by one value for each or by text."""
    names = [dimension.name for dimension in dimensions]
    if isinstance(given, Mapping) and set(given) == set(names):
        return [given[name] for name in names]
    parts: list[Any] = []
    if isinstance(given, str):
        texts = split_parts(given)
        if len(texts) == len(dimensions):
            return [_read(dimension, text, shown) for dimension, text in zip(dimensions, texts, strict=True)]
        parts = [*texts]
    elif isinstance(given, list | tuple):
        parts = [*given]
    if len(parts) != len(dimensions):
        raise InvalidDefinitionError(
            f"only= has {_shown(shown)}; expected one value for each of {', '.join(names)},"
            f" such as {'|'.join(names)!r} in one text"
        )
    return parts


def _read(dimension: Dimension, text: str, shown: Any) -> Any:
    """A part of a text: the segment that it names; a time stays as it is."""
    if isinstance(dimension, PartitionByInterval):
        return text
    try:
        return dimension.parse(text)
    except InvalidKeyError as error:
        raise InvalidDefinitionError(f"only= has {_shown(shown)}: {error}") from None


def _combination(dimensions: Sequence[Dimension], given: Any, shown: Any) -> tuple[TimeRange, Combination]:
    time_range, positions = (FIRST, LAST), []
    for dimension, part in zip(dimensions, _parts(dimensions, given, shown), strict=True):
        try:
            if isinstance(dimension, PartitionByInterval):
                time_range = _times(dimension, part)
            else:
                positions.append(dimension.position(dimension.key(part)))
        except (InvalidKeyError, InvalidDefinitionError) as error:
            raise InvalidDefinitionError(f"only= has {_shown(shown)}: {error}") from None
    return time_range, tuple(positions)


def _times(time: PartitionByInterval, given: Any) -> TimeRange:
    """The range in which the intervals begin that are meant: one, or those from *start* up to, not with, *end*."""
    first, last = whole(time)
    if isinstance(given, str) and ".." in given:
        start, _, end = (text.strip() for text in given.partition(".."))
        low = first if not start else _boundary(time, time.moment(start, "start"))
        high = last if not end else _boundary(time, time.moment(end, "end"))
        if start and end and low > high:
            raise InvalidDefinitionError(f"{given!r} ends before it begins; expected start..end")
        low, high = max(low, first), min(high, last)
        return (low, high) if low < high else (first, first)
    try:
        return time.key(given).time_range
    except InvalidKeyError as error:
        raise InvalidKeyError(f"{error}; or a range such as '2013-03-01..2013-06-01', '2013-03-01..' or '..'") from None


def _boundary(time: PartitionByInterval, at: int) -> int:
    boundary = time.calendar.after(at - 1)
    return LAST if boundary is None else boundary


def _shown(given: Any) -> str:
    return " with ".join(map(repr, given)) if isinstance(given, tuple) else repr(given)
