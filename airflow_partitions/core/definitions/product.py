"""Partitions by several dimensions at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import chain, islice, permutations, product
from math import prod
from types import MappingProxyType
from typing import Any

from airflow_partitions.core.calendars.instants import utc
from airflow_partitions.core.calendars.timeline import FIRST
from airflow_partitions.core.definitions.combinations import (
    Combination,
    Combinations,
    beside,
    combinations_of,
)
from airflow_partitions.core.definitions.combinations_form import combinations_from_json, combinations_to_json
from airflow_partitions.core.definitions.definition import Moment, PartitionDefinition, check_length
from airflow_partitions.core.definitions.interval import PartitionByInterval
from airflow_partitions.core.definitions.only import Only, read_only, whole
from airflow_partitions.core.definitions.runtime import LISTED, PartitionAtRuntime
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
    """Every combination of the keys of several dimensions, at most one of them time; or only those that exist.

    Keys run through time first and, within an interval, through the segments in the declared order, the last dimension
    fastest.

    .. code-block:: python

        airport_days = PartitionByProduct(
            [PartitionByInterval("@daily", name="date"), PartitionBySequence(["EWR", "JFK"], name="airport")]
        )
        airport_days.parse("2013-02-08|JFK")["airport"].value  # "JFK"

        PartitionByProduct([COUNTRIES, CITIES], only={"de": ["berlin", "bonn"], "fr": ["paris"]})
        PartitionByProduct([CUSTOMERS, DAYS], only={"ann": ["2013-01-01.."], "bob": ["2013-03-01..2014-01-01"]})
        PartitionByProduct([TENANTS, REGIONS, DAYS], only=["acme|eu|..", "acme|us|2013-06-01.."])

    Of time, *only* has keys, or ranges ``start..end``: all intervals that begin from *start* up to, not with, *end*;
    without one of the two there is no bound. The definition keeps what exists, not how it was said: a function is asked
    once about each key of the first dimension, when the definition is made, and no scheduler calls it.

    Combinations that become known at runtime are the keys of a :class:`PartitionAtRuntime` *of* the dimensions that are
    not time. Scheduler, API server and tasks know by its list which exist; the Dag file does not, so that a definition
    made there lists and counts none, and takes any combination for a key.

    .. code-block:: python

        TENANT_REGIONS = PartitionAtRuntime("tenant_regions", of=PartitionByProduct([TENANTS, REGIONS]))
        PartitionByProduct([TENANTS, REGIONS, DAYS], only=TENANT_REGIONS)

    :param dimensions: definitions with different names.
    :param only: the combinations that exist; by default all do. A mapping from a key of the first dimension to the list
        of what exists with it, of the second dimension, or tuples of those after the first; or a function of that key,
        a plain value, which returns such a list; or a list of combinations, as tuples or as texts joined by ``|``; or
        the definition of those that are added at runtime.
    :raises InvalidDefinitionError: for fewer than two dimensions, two times, equal names, a product or runtime keys
        inside, keys too long for Airflow, or an *only* that names what a dimension has not, has no combination at all,
        is a function where the first dimension is time without ``start`` or ``end``, or is of other dimensions.
    """

    kind = "product"
    name = "product"
    _dimensions: Mapping[str, PartitionByInterval | PartitionBySequence]
    _names: tuple[str, ...]
    _time: PartitionByInterval | None
    _segments: tuple[PartitionBySequence, ...]

    def __init__(
        self, dimensions: Sequence[PartitionDefinition], *, only: Only | PartitionAtRuntime | None = None
    ) -> None:
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
        time = times[0] if times else None
        vars(self).update(_dimensions=by_name, _names=tuple(by_name), _time=time, _segments=segments)
        there, listed = None, None
        if isinstance(only, PartitionAtRuntime):
            listed = self._checked(only)
        elif only is not None:
            there = self._existing(Combinations.of(self._sizes, read_only([*self._dimensions.values()], only)))
        vars(self).update(only=there, listed=listed)

    @classmethod
    def from_json(
        cls,
        dimensions: Sequence[PartitionDefinition],
        only: Sequence[dict[str, Any]],
        listed: PartitionAtRuntime | None = None,
    ) -> PartitionByProduct:
        """The product of *dimensions* with those combinations that the JSON form of *only* has.

        :param listed: the definition at whose list they were; ``None`` if an author has said them.
        """
        product = cls(dimensions)
        there = combinations_from_json(only, product._sizes, product.time)
        vars(product).update(only=there if listed is not None else product._existing(there), listed=listed)
        return product

    @property
    def _sizes(self) -> list[int]:
        """Numbers of the segments of the dimensions that are not time."""
        return [len(d.segments) for d in self._segments]

    @property
    def is_fixed(self) -> bool:
        return self._time is None and self.listed is None

    @property
    def declared(self) -> PartitionByProduct:
        if self.listed is None or self.is_open:
            return self
        return PartitionByProduct([*self._dimensions.values()], only=self.listed)

    @property
    def known(self) -> PartitionDefinition:
        complete = LISTED.get(None)
        return complete(self) if complete is not None and self.is_open else self

    def having(self, texts: Iterable[str]) -> PartitionByProduct:
        listed = self.listed
        if listed is None or listed.of is None:
            return self
        of, everything = listed.of, whole(self._time)
        keys = (of.parse(text) for text in texts if listed.allows(text))
        combinations = (self._combination(of.dimensions_of(key)) for key in keys)
        there = Combinations.of(self._sizes, ((everything, combination) for combination in combinations))
        product = PartitionByProduct([*self._dimensions.values()])
        vars(product).update(only=there, listed=listed)
        return product

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
        self._check_known()
        if self._time is None:
            yield from self.segment_keys()
        elif self.only is None:
            for interval in self._time.keys(start, end):
                yield from self.keys_of(interval)
        else:
            for phase in self.only.phases_within(*self._time.starting(start, end)):
                for interval in self._time.keys(utc(phase.low), utc(phase.high)):
                    for combination in combinations_of(phase.tree):
                        yield self._at(interval, combination)

    def keys_of(self, interval: Interval) -> Iterator[ProductKey]:
        """The keys of one *interval*, in order."""
        self._check_known()
        if self.only is not None:
            phase = self.only.phase(interval.time_range[0])
            for combination in () if phase is None else combinations_of(phase.tree):
                yield self._at(interval, combination)
            return
        names = self._names
        choices: list[tuple[Interval | Segment, ...]] = [
            d.segments if isinstance(d, PartitionBySequence) else (interval,) for d in self._dimensions.values()
        ]
        for parts in product(*choices):
            yield ProductKey(names, parts)

    def segment_keys(self) -> Iterator[ProductKey]:
        """The combinations of segments alone, that exist at any time, as keys without the time dimension."""
        self._check_known()
        names = tuple(d.name for d in self._segments)
        if self.only is None:
            for parts in product(*(d.segments for d in self._segments)):
                yield ProductKey(names, parts)
        else:
            for combination in combinations_of(self.only.ever):
                chosen = zip(self._segments, combination, strict=True)
                yield ProductKey(names, tuple(d.segments[i] for d, i in chosen))

    def beside(self, key: ProductKey, step: int = 1) -> ProductKey | None:
        """The key one *step* (1 or -1) further along the segments in the same interval, ``None`` at the end."""
        parts = dict(key.wrapped)
        if self.only is not None:
            interval = self.interval_of(key)
            phase = self.only.phase(FIRST if interval is None else interval.time_range[0])
            there = None if phase is None else beside(phase.tree, self._combination(parts), backward=step < 0)
            return None if there is None else self._at(interval, there)
        for dimension in reversed(self._segments):
            here = parts[dimension.name]
            other = dimension.next(here) if step > 0 else dimension.previous(here)
            if other is not None:
                return self.key(parts | {dimension.name: other})
            parts[dimension.name] = dimension.segments[0 if step > 0 else -1]
        return None

    def combinations(self) -> int:
        """Number of keys of one interval; where *only* says when they exist, of all that exist at any time."""
        self._check_known()
        return prod(len(d.segments) for d in self._segments) if self.only is None else self.only.size

    def count(self, start: Moment | None = None, end: Moment | None = None) -> int:
        if self._time is None or self.only is None:
            return self.combinations() * (1 if self._time is None else self._time.count(start, end))
        phases = self.only.phases_within(*self._time.starting(start, end))
        return sum(phase.size * self._time.calendar.count(phase.low, phase.high) for phase in phases)

    def first(self) -> ProductKey | None:
        """The first key, ``None`` if the calendar is open to the past, or nothing exists."""
        self._check_known()
        interval = None if self._time is None else self._time.first()
        if self.only is None:
            at_begin = tuple(0 for _ in self._segments)
            return None if self._time is not None and interval is None else self._at(interval, at_begin)
        if not self.only.phases:
            return None
        phase = self.only.phases[0]
        if self._time is not None:
            if self._time.start is None and phase.low == whole(self._time)[0]:
                return None
            interval = self._time.interval_at(phase.low)
        return self._at(interval, next(combinations_of(phase.tree)))

    def last(self, closed_by: datetime | None = None) -> ProductKey | None:
        """The last key whose interval is over at *closed_by*."""
        self._check_known()
        interval = None if self._time is None else self._time.last(closed_by)
        if self._time is not None and interval is None:
            return None
        if self.only is None:
            return self._at(interval, tuple(-1 for _ in self._segments))
        phases = [*self.only.phases_within(FIRST, FIRST + 1 if interval is None else interval.time_range[1])]
        if not phases:
            return None
        if self._time is not None:
            interval = self._time.interval_at(phases[-1].high - 1)
        return self._at(interval, next(combinations_of(phases[-1].tree, backward=True)))

    def last_interval(self, closed_by: datetime) -> Interval | None:
        if self.only is None:
            return super().last_interval(closed_by)
        last = None if self._time is None else self.last(closed_by)
        return None if last is None else self.interval_of(last)

    def next_interval(self, moment: datetime) -> Interval | None:
        interval = super().next_interval(moment)
        if self.only is None or self._time is None or interval is None:
            return interval
        start, _ = interval.time_range
        phase = next(self.only.phases_within(start, whole(self._time)[1]), None)
        return None if phase is None else self._time.interval_at(phase.low)

    @property
    def full(self) -> PartitionByProduct:
        return self if self.only is None else PartitionByProduct([*self._dimensions.values()])

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
        return self._there([self._dimensions[name].key(parts[name]) for name in self._names], value)

    def parse(self, text: str) -> ProductKey:
        parts = split_parts(text) if isinstance(text, str) else []
        if len(parts) != len(self._names):
            raise InvalidKeyError(
                f"{text!r} has {len(parts)} parts; expected {len(self._names)} joined by '|': {'|'.join(self._names)}",
                given=text,
                nearest=partial(self._nearest, parts),
            )
        try:
            wrapped = [d.parse(part) for d, part in zip(self._dimensions.values(), parts, strict=True)]
        except InvalidKeyError as error:
            raise InvalidKeyError(error.reason, given=text, nearest=partial(self._nearest, parts)) from None
        return self._there(wrapped, text)

    def previous(self, key: Any) -> ProductKey | None:
        return self._step(self.key(key), -1)

    def next(self, key: Any) -> ProductKey | None:
        return self._step(self.key(key), 1)

    def to_json(self) -> dict[str, Any]:
        form: dict[str, Any] = {"kind": self.kind, "dimensions": [d.to_json() for d in self._dimensions.values()]}
        if self.listed is not None:
            form["listed"] = self.listed.to_json()
        return form if self.only is None else form | {"only": combinations_to_json(self.only, self._time)}

    def __repr__(self) -> str:
        only = f", only={self.listed!r}" if self.listed is not None and self.is_open else ""
        if self.only is not None:
            only = f", only={self.only.size:,} combinations"
        return f"PartitionByProduct([{', '.join(map(repr, self._dimensions.values()))}]{only})"

    def _wrap(self, parts: list[Any]) -> ProductKey:
        return ProductKey(self._names, tuple(parts))

    def _nearest(self, texts: Sequence[str]) -> tuple[str, ...]:
        """Texts of the keys nearest to that of *texts*, one for each dimension; none where a dimension is not told."""
        dimensions = self._dimensions.values()
        for parts in islice(permutations(texts), _MOST_ORDERS if len(texts) == len(dimensions) else 0):
            with suppress(InvalidKeyError):
                wrapped = [d.parse(part.strip()) for d, part in zip(dimensions, parts, strict=True)]
                return (str(self._there(wrapped, texts)),)
        choices: list[list[Any]] = []
        for i, dimension in enumerate(dimensions):
            try:
                choices.append([dimension.parse(texts[i].strip() if i < len(texts) else "")])
            except InvalidKeyError as error:
                choices.append([dimension.parse(text) for text in error.nearest])
        near: Iterator[ProductKey] = (self._wrap(list(parts)) for parts in product(*choices))
        if self.only is not None:
            near = chain.from_iterable([key] if self._is_there(key) else self._near(key) for key in near)
        return tuple(dict.fromkeys(map(str, islice(near, _MOST_NEAREST))))

    def _at(self, interval: Interval | None, positions: Combination) -> ProductKey:
        """The key of an interval with the segments at *positions*."""
        left = iter(positions)
        dimensions = self._dimensions.values()
        return self._wrap(
            [d.segments[next(left)] if isinstance(d, PartitionBySequence) else interval for d in dimensions]
        )

    def _combination(self, parts: Mapping[str, Any]) -> Combination:
        """The positions of the segments of a key's wrapped *parts*."""
        return tuple(d.position(parts[d.name]) for d in self._segments)

    def _is_there(self, key: ProductKey) -> bool:
        if self.only is None:
            return True
        interval = self.interval_of(key)
        return self.only.has(FIRST if interval is None else interval.time_range[0], self._combination(key.wrapped))

    def _there(self, parts: list[Any], given: Any) -> ProductKey:
        """The key of *parts*, if it exists."""
        key = self._wrap(parts)
        if not self._is_there(key):
            words = " with ".join(f"{name} {str(part)!r}" for name, part in key.wrapped.items())
            raise InvalidKeyError(
                f"{given if isinstance(given, str) else str(key)!r} does not exist: there is no {words}; expected one"
                f" of the {self.combinations():,} combinations that the definition has",
                given=given,
                nearest=partial(_texts, self._near, key),
            )
        return key

    def _near(self, key: ProductKey) -> Iterator[ProductKey]:
        """Keys that exist and differ from *key*, which does not, in one dimension, each as little as possible."""
        only, interval, here = self.only, self.interval_of(key), self._combination(key.wrapped)
        if only is None:
            return
        at = FIRST if interval is None else interval.time_range[0]
        if self._time is not None and (times := only.times_of(here)):
            low, high = min(times, key=lambda times: min(abs(times[0] - at), abs(times[1] - at)))
            yield self._at(self._time.interval_at(low if at < low else high - 1), here)
        has_neighbour = False
        for i in reversed(range(len(here))):
            others = sorted(range(only.sizes[i]), key=lambda position: abs(position - here[i]))
            there = ((*here[:i], position, *here[i + 1 :]) for position in others)
            if (other := next((each for each in there if only.has(at, each)), None)) is not None:
                has_neighbour = True
                yield self._at(interval, other)
        if not has_neighbour and only.phases:
            phase = min(only.phases, key=lambda phase: max(phase.low - at, at - phase.high + 1, 0))
            if self._time is not None and not phase.low <= at < phase.high:
                interval = self._time.interval_at(phase.low if at < phase.low else phase.high - 1)
            for backward in (False, True):
                if (other := beside(phase.tree, here, backward=backward)) is not None:
                    yield self._at(interval, other)

    def _checked(self, only: PartitionAtRuntime) -> PartitionAtRuntime:
        """The definition of the combinations that are added at runtime, if it is of the dimensions without time."""
        if only.of is None or dict(only.of.dimensions) != {d.name: d for d in self._segments}:
            names = ", ".join(d.name for d in self._segments)
            of = names if len(self._segments) == 1 else f"PartitionByProduct([{names}])"
            raise InvalidDefinitionError(
                f"only={only!r} has no keys that are combinations of {names}; expected"
                f" PartitionAtRuntime({only.name!r}, of={of}), of the same definitions as the product"
            )
        return only

    def _check_known(self) -> None:
        """Refuse to list what is known only at runtime."""
        if self.is_open:
            raise InvalidDefinitionError(
                f"which combinations of {self!r} exist is known only from what was added to it, not from the definition"
            )

    def _existing(self, only: Combinations) -> Combinations | None:
        """What *only* has; ``None`` if that is everything."""
        if not only.by_times:
            raise InvalidDefinitionError(f"only= has no combination of {', '.join(self._names)} at all")
        return None if only.is_everything(whole(self._time)) else only

    def _step(self, key: ProductKey, step: int) -> ProductKey | None:
        if self._time is None:
            return self.beside(key, step)
        interval = key[self._time.name]
        moved = self._time.next(interval) if step > 0 else self._time.previous(interval)
        if self.only is not None:
            return self._stepped(key, moved, step)
        return None if moved is None else self.key({**key, self._time.name: moved})

    def _stepped(self, key: ProductKey, moved: Interval | None, step: int) -> ProductKey | None:
        """The key of the same segments in the interval *moved* to, or in the first one from there on that has it."""
        if self.only is None or self._time is None or moved is None:
            return None
        combination, start = self._combination(key.wrapped), moved.time_range[0]
        times = self.only.times_of(combination)
        if any(low <= start < high for low, high in times):
            return self._at(moved, combination)
        if step > 0:
            starts = (low for low, _ in times if low > start)
            at = next(starts, None)
        else:
            at = next((high - 1 for _, high in reversed(times) if high <= start), None)
        return None if at is None else self._at(self._time.interval_at(at), combination)


def _texts(near: Callable[[ProductKey], Iterator[ProductKey]], key: ProductKey) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, islice(near(key), _MOST_NEAREST))))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")
