"""Partitions by several dimensions at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import islice, permutations, product
from math import prod
from types import MappingProxyType
from typing import Any

from airflow_partitions.core.definitions.definition import Moment, PartitionDefinition, check_length
from airflow_partitions.core.definitions.interval import PartitionByInterval
from airflow_partitions.core.definitions.sequence import PartitionBySequence
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Interval, ProductKey, Segment
from airflow_partitions.core.keys.keyed import key_of
from airflow_partitions.core.keys.product_key import split_parts

#: In how many orders the parts of a wrong text are tried.
_MOST_ORDERS = 24
#: How many nearest keys a message has.
_MOST_NEAREST = 3


class PartitionByProduct(PartitionDefinition):
    """Every combination of the keys of several dimensions, at most one of them time.

    Keys run through time first and, within an interval, through the segments in the declared order, the last dimension
    fastest.

    .. code-block:: python

        airport_days = PartitionByProduct(
            [PartitionByInterval("@daily", name="date"), PartitionBySequence(["EWR", "JFK"], name="airport")]
        )
        airport_days.parse("2013-02-08|JFK")["airport"].value  # "JFK"

    :param dimensions: definitions with different names.
    :raises InvalidDefinitionError: for fewer than two dimensions, two times, equal names, a product or runtime keys
        inside, or keys too long for Airflow.
    """

    kind = "product"
    name = "product"
    _dimensions: Mapping[str, PartitionByInterval | PartitionBySequence]
    _names: tuple[str, ...]
    _time: PartitionByInterval | None
    _segments: tuple[PartitionBySequence, ...]

    def __init__(self, dimensions: Sequence[PartitionDefinition]) -> None:
        if not isinstance(dimensions, Sequence) or len(dimensions) < 2:
            raise InvalidDefinitionError(f"PartitionByProduct got {dimensions!r}; expected a list of two or more")
        for dimension in dimensions:
            if not isinstance(dimension, PartitionByInterval | PartitionBySequence):
                raise InvalidDefinitionError(
                    f"PartitionByProduct can't hold {dimension!r}; expected PartitionByInterval or PartitionBySequence"
                )
        times = [d for d in dimensions if isinstance(d, PartitionByInterval)]
        if len(times) > 1:
            raise InvalidDefinitionError(
                f"{len(times)} time dimensions ({', '.join(map(repr, times))}); expected at most one"
            )
        by_name = {dimension.name: dimension for dimension in dimensions}
        if len(by_name) < len(dimensions):
            names = ", ".join(d.name for d in dimensions)
            raise InvalidDefinitionError(f"dimensions {names} share a name; give one of them another: name='region'")
        segments = tuple(d for d in dimensions if isinstance(d, PartitionBySequence))
        longest = [max((_escaped(s.text) for s in d.segments), key=len) for d in segments]
        check_length("|".join([*longest, *("t" * time.longest_text for time in times)]), "PartitionByProduct")
        vars(self).update(
            _dimensions=by_name, _names=tuple(by_name), _time=times[0] if times else None, _segments=segments
        )

    @property
    def dimensions(self) -> Mapping[str, PartitionDefinition]:
        return MappingProxyType(self._dimensions)

    @property
    def time(self) -> PartitionByInterval | None:
        return self._time

    @property
    def segments(self) -> tuple[PartitionBySequence, ...]:
        """The dimensions that are not time."""
        return self._segments

    def keys(self, start: Moment | None = None, end: Moment | None = None) -> Iterator[ProductKey]:
        if self._time is None:
            for parts in product(*(d.segments for d in self._segments)):
                yield ProductKey(self._names, parts)
            return
        for interval in self._time.keys(start, end):
            yield from self.keys_of(interval)

    def keys_of(self, interval: Interval) -> Iterator[ProductKey]:
        """The keys of one *interval*, in order."""
        names = self._names
        choices: list[tuple[Interval | Segment, ...]] = [
            d.segments if isinstance(d, PartitionBySequence) else (interval,) for d in self._dimensions.values()
        ]
        for parts in product(*choices):
            yield ProductKey(names, parts)

    def segment_keys(self) -> Iterator[ProductKey]:
        """The combinations of segments alone, as keys without the time dimension."""
        names = tuple(d.name for d in self._segments)
        for parts in product(*(d.segments for d in self._segments)):
            yield ProductKey(names, parts)

    def beside(self, key: ProductKey, step: int = 1) -> ProductKey | None:
        """The key one *step* (1 or -1) further along the segments in the same interval, ``None`` at the end."""
        parts = dict(key.wrapped)
        for dimension in reversed(self._segments):
            here = parts[dimension.name]
            other = dimension.next(here) if step > 0 else dimension.previous(here)
            if other is not None:
                return self.key(parts | {dimension.name: other})
            parts[dimension.name] = dimension.segments[0 if step > 0 else -1]
        return None

    def combinations(self) -> int:
        """Number of keys of one interval."""
        return prod(len(d.segments) for d in self._segments)

    def count(self, start: Moment | None = None, end: Moment | None = None) -> int:
        return self.combinations() * (1 if self._time is None else self._time.count(start, end))

    def first(self) -> ProductKey | None:
        """The first key, ``None`` if the calendar is open to the past."""
        interval = None if self._time is None else self._time.first()
        return None if self._time is not None and interval is None else self._at(interval, 0)

    def last(self, closed_by: datetime | None = None) -> ProductKey | None:
        """The last key whose interval is over at *closed_by*."""
        interval = None if self._time is None else self._time.last(closed_by)
        return None if self._time is not None and interval is None else self._at(interval, -1)

    def key_at(self, moment: datetime, **segments: Any) -> ProductKey:
        """The key of the interval that holds the aware *moment* and of the named *segments*.

        :raises InvalidKeyError: if there is none, or no time dimension.
        """
        if self._time is None:
            raise InvalidKeyError(f"{self!r} has no time dimension", given=moment)
        return self.key({self._time.name: self._time.key_at(moment), **segments})

    def key(self, value: Any) -> ProductKey:
        value = key_of(value)
        if isinstance(value, str):
            return self.parse(value)
        if not isinstance(value, Mapping) or set(value) != set(self._names):
            raise InvalidKeyError(f"{value!r} is no key; expected a value for each of {list(self._names)}", given=value)
        parts = value.wrapped if isinstance(value, ProductKey) else value
        return self._wrap([self._dimensions[name].key(parts[name]) for name in self._names])

    def parse(self, text: str) -> ProductKey:
        parts = split_parts(text) if isinstance(text, str) else []
        if len(parts) != len(self._names):
            raise InvalidKeyError(
                f"{text!r} has {len(parts)} parts; expected {len(self._names)} joined by '|': {'|'.join(self._names)}",
                given=text,
                nearest=partial(self._nearest, parts),
            )
        try:
            return self._wrap([d.parse(part) for d, part in zip(self._dimensions.values(), parts, strict=True)])
        except InvalidKeyError as error:
            raise InvalidKeyError(error.reason, given=text, nearest=partial(self._nearest, parts)) from None

    def previous(self, key: Any) -> ProductKey | None:
        return self._step(self.key(key), -1)

    def next(self, key: Any) -> ProductKey | None:
        return self._step(self.key(key), 1)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "dimensions": [d.to_json() for d in self._dimensions.values()]}

    def __repr__(self) -> str:
        return f"PartitionByProduct([{', '.join(map(repr, self._dimensions.values()))}])"

    def _wrap(self, parts: list[Any]) -> ProductKey:
        return ProductKey(self._names, tuple(parts))

    def _nearest(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Texts of the keys nearest to that of *texts*, one for each dimension; none where a dimension is not told."""
        dimensions = self._dimensions.values()
        for parts in islice(permutations(texts), _MOST_ORDERS if len(texts) == len(dimensions) else 0):
            with suppress(InvalidKeyError):
                return (str(self._wrap([d.parse(part.strip()) for d, part in zip(dimensions, parts, strict=True)])),)
        choices: list[list[Any]] = []
        for i, dimension in enumerate(dimensions):
            try:
                choices.append([dimension.parse(texts[i].strip() if i < len(texts) else "")])
            except InvalidKeyError as error:
                choices.append([dimension.parse(text) for text in error.nearest])
        return tuple(str(self._wrap(list(parts))) for parts in islice(product(*choices), _MOST_NEAREST))

    def _at(self, interval: Interval | None, i: int) -> ProductKey:
        """The first (0) or last (-1) key of an interval."""
        dimensions = self._dimensions.values()
        return self._wrap([d.segments[i] if isinstance(d, PartitionBySequence) else interval for d in dimensions])

    def _step(self, key: ProductKey, step: int) -> ProductKey | None:
        if self._time is None:
            return self.beside(key, step)
        interval = key[self._time.name]
        moved = self._time.next(interval) if step > 0 else self._time.previous(interval)
        return None if moved is None else self.key({**key, self._time.name: moved})


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")
