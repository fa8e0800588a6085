"""Sets of keys, kept as time ranges and segment sets instead of lists."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from itertools import chain, groupby, islice, pairwise, product
from operator import and_, attrgetter, gt, or_
from typing import Any

import attrs

from airflow_partitions.core.calendars.instants import TimeRange, instant, utc
from airflow_partitions.core.calendars.steps import ahead
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import (
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    PartitionDefinition,
    from_json,
)
from airflow_partitions.core.dependencies.areas import Areas, ChosenSegments, Keep
from airflow_partitions.core.dependencies.box import Box, combined, intervals, wrapped
from airflow_partitions.core.dependencies.existing import enclosing, existing, widened
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Interval, Key, ProductKey, Segment
from airflow_partitions.core.keys.value import from_json as value_from_json
from airflow_partitions.core.keys.value import to_json as value_to_json
from airflow_partitions.core.versions import check_version

_VERSION = 1


@attrs.frozen(eq=False)
class Selection:
    """A set of keys of *definition*: iterable in the definition's order, sized, and answering ``in``.

    ``|``, ``&`` and ``-`` make union, intersection and difference of two selections of one definition. Neither these
    nor size, membership, comparison and :meth:`chunks` list keys: ten years of hours are one box.

    .. code-block:: python

        year = Selection.between(hours, datetime(2013, 1, 1, tzinfo=UTC), datetime(2014, 1, 1, tzinfo=UTC))
        missing = year - Selection.of(hours, "2013-03-10T05:00Z", "2013-03-10T06:00Z")
        len(missing)  # 8758

    :ivar boxes: parts that share no key, in order.
    """

    definition: PartitionDefinition
    boxes: tuple[Box, ...] = ()

    def __attrs_post_init__(self) -> None:
        boxes, known = self.boxes, self.definition.known
        if known.only is not None:
            boxes = tuple(chain.from_iterable(existing(known, box) for box in boxes))
        if len(self.boxes) > 1 and not _in_order(self.boxes):
            boxes = combined(self.definition, boxes, (), or_)
        if boxes is not self.boxes:
            object.__setattr__(self, "boxes", boxes)

    @classmethod
    def of(cls, definition: PartitionDefinition, *keys: Any) -> Selection:
        """The selection of these *keys*, wrapped, plain or as texts."""
        return cls(definition, tuple(Box.of(definition, key) for key in keys))

    @classmethod
    def all(cls, definition: PartitionDefinition) -> Selection:
        """All keys of *definition*, of all time; those that are known only at runtime are in it, but not listed."""
        return cls(definition, (Box(None if definition.time is None else definition.time.overlapping(FIRST, LAST)),))

    @classmethod
    def between(cls, definition: PartitionDefinition, start: datetime, end: datetime) -> Selection:
        """All keys of *definition* whose interval overlaps the aware instants ``[start, end)``.

        :raises InvalidDefinitionError: if the definition has no time dimension, or a bound is naive.
        """
        if definition.time is None:
            raise InvalidDefinitionError(f"{definition!r} has no time dimension; it can't be cut by time")
        time = definition.time
        low, high = time.overlapping(time.moment(start, "start"), time.moment(end, "end"))
        return cls(definition, (Box((low, high)),) if low < high else ())

    def chunks(self, n: int) -> Iterator[Selection]:
        """Selections of at most *n* keys, in order, that share no key and together are this one.

        The keys of one interval stay together unless they are more than *n*.

        :raises InvalidDefinitionError: if *n* is not at least 1.
        """
        if type(n) is not int or n < 1:
            raise InvalidDefinitionError(f"chunks of {n!r} keys; expected a number of keys, at least 1")
        taken: list[Box] = []
        room = n
        for time_range, boxes in self._slabs():
            each = sum(self._combinations(box) for box in boxes)
            low, high = time_range or (0, 1)
            while each <= n and low < high:
                if room < each:
                    yield Selection(self.definition, tuple(taken))
                    taken, room = [], n
                end = high if time_range is None else min(high, ahead(self._time().calendar, low, room // each))
                part = tuple(attrs.evolve(box, time_range=time_range and (low, end)) for box in boxes)
                if size := sum(map(self._size, part)):
                    taken.extend(part)
                    room -= size
                low = end
            if each > n:
                if taken:
                    yield Selection(self.definition, tuple(taken))
                    taken, room = [], n
                for interval in (None,) if time_range is None else intervals(self._time(), time_range):
                    keys = self._keys(boxes, interval)
                    while some := tuple(islice(keys, n)):
                        yield Selection.of(self.definition, *some)
        if taken:
            yield Selection(self.definition, tuple(taken))

    def intervals(self) -> Iterator[Interval]:
        """The intervals of the selected keys, in order, each once."""
        for time_range, _ in self._slabs():
            if time_range is not None:
                yield from intervals(self._time(), time_range)

    def to_json(self) -> dict[str, Any]:
        """JSON form: the definition's, and per box its range in UTC and its segments; the same for the same keys."""
        return {
            "version": _VERSION,
            "definition": self.definition.to_json(),
            "boxes": [
                {
                    "time_range": box.time_range and [utc(bound).isoformat() for bound in box.time_range],
                    "segments": {n: [value_to_json(s.value) for s in chosen] for n, chosen in box.segments.items()},
                }
                for box in self.written
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Selection:
        """The inverse of :meth:`to_json`.

        :raises InvalidKeyError: if a range does not begin and end where intervals do: time zone data differ.
        :raises UnknownVersionError: if another release wrote it in another version.
        """
        check_version(data, _VERSION, "the selection")
        definition = from_json(data["definition"])
        boxes = []
        for box in data["boxes"]:
            bounds = box["time_range"]
            time_range = bounds and tuple(instant(datetime.fromisoformat(bound)) for bound in bounds)
            segments = {
                name: tuple(_segment(definition.dimensions[name], value_from_json(v)) for v in values)
                for name, values in box["segments"].items()
            }
            boxes.append(Box(time_range and _existing(definition, time_range), segments))
        return cls(definition, tuple(boxes))

    def __len__(self) -> int:
        return sum(map(self._size, self.boxes))

    def __bool__(self) -> bool:
        return any(map(self._size, self.boxes))

    def __iter__(self) -> Iterator[Key]:
        alone = not isinstance(self.definition, PartitionByProduct)
        for time_range, boxes in self._slabs():
            if time_range is None:
                yield from self._keys(boxes, None)
            elif alone:
                yield from intervals(self._time(), time_range)
            else:
                for interval in intervals(self._time(), time_range):
                    yield from self._keys(boxes, interval)

    def __contains__(self, key: Any) -> bool:
        try:
            own = wrapped(self.definition, key)
        except InvalidKeyError:
            return False
        parts, interval = self.definition.dimensions_of(own), self.definition.interval_of(own)
        boxes = self.boxes
        if interval is not None and len(boxes) > 1:
            start = interval.time_range[0]
            boxes = boxes[bisect_right(boxes, start, key=_end) : bisect_right(boxes, start, key=_start)]
        return any(box.holds(parts) for box in boxes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selection):
            return NotImplemented
        if not self._same(other.definition):
            return False
        return self.boxes == other.boxes or self.canonical == other.canonical

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Selection) -> Selection:
        return self._combined(other, or_)

    def __and__(self, other: Selection) -> Selection:
        return self._combined(other, and_)

    def __sub__(self, other: Selection) -> Selection:
        return self._combined(other, gt)

    def _combined(self, other: Selection, keep: Keep) -> Selection:
        if not isinstance(other, Selection):
            return NotImplemented
        if not self._same(other.definition):
            raise InvalidDefinitionError(
                f"a selection of {self.definition!r} and one of {other.definition!r} have no keys in common;"
                " expected two of one definition"
            )
        return self._of_ordered(combined(self.definition, self.boxes, other.boxes, keep))

    def _of_ordered(self, boxes: tuple[Box, ...]) -> Selection:
        """The selection of *boxes* that share no key and are in order."""
        selection = Selection(self.definition)
        object.__setattr__(selection, "boxes", boxes)
        return selection

    @cached_property
    def canonical(self) -> tuple[Box, ...]:
        """Boxes that are the same for the same set of keys."""
        return combined(self.definition, self.boxes, (), or_)

    @cached_property
    def written(self) -> tuple[Box, ...]:
        """Boxes to be written down, the same for the same set of keys; they may hold others that don't exist."""
        if self.definition.only is None:
            return self.canonical
        one = enclosing(self.definition, self.boxes)
        return tuple(widened(self.definition, self.canonical)) if one is None else (one,)

    def _same(self, definition: PartitionDefinition) -> bool:
        return self.definition is definition or self.definition == definition

    def _slabs(self) -> Iterator[tuple[TimeRange | None, tuple[Box, ...]]]:
        """The boxes with keys in them, those with the same range together."""
        for time_range, boxes in groupby(filter(self._combinations, self.boxes), key=attrgetter("time_range")):
            yield time_range, tuple(boxes)

    def _keys(self, boxes: tuple[Box, ...], interval: Interval | None) -> Iterator[Key]:
        """The keys of one *interval*, in order."""
        definition = self.definition
        parts = product(*self._choices(boxes[0], interval)) if len(boxes) == 1 else self._merged(boxes, interval)
        if not isinstance(definition, PartitionByProduct):
            yield from (part for (part,) in parts)
            return
        names = tuple(definition.dimensions)
        for some in parts:
            yield ProductKey(names, some)

    def _choices(self, box: Box, interval: Interval | None) -> Iterator[tuple[Any, ...]]:
        """The parts that the keys of a *box* may have, by dimension."""
        for name, dimension in self.definition.dimensions.items():
            if isinstance(dimension, PartitionByInterval):
                yield (interval,)
            elif (chosen := box.segments.get(name)) is not None:
                yield chosen
            elif isinstance(dimension, PartitionBySequence):
                yield dimension.segments

    def _merged(self, boxes: tuple[Box, ...], interval: Interval | None) -> Iterator[tuple[Any, ...]]:
        """The parts of the keys of several *boxes*, in order."""
        time, names = self.definition.time, tuple(self.definition.dimensions)
        combinations = self._areas.ordered([self._areas.of(box.segments) for box in boxes])
        if time is None:
            yield from combinations
            return
        i = names.index(time.name)
        for segments in combinations:
            yield (*segments[:i], interval, *segments[i:])

    @cached_property
    def _areas(self) -> Areas:
        return Areas(self.definition, [box.segments for box in self.boxes])

    def _size(self, box: Box) -> int:
        times = 1 if box.time_range is None else self._time().calendar.count(*box.time_range)
        return times * self._combinations(box)

    def _combinations(self, box: Box) -> int:
        """Number of keys of the box in one interval."""
        segments = box.segments
        if isinstance(segments, ChosenSegments):
            return segments.combinations()
        number = 1
        for name, dimension in self.definition.dimensions.items():
            if not isinstance(dimension, PartitionByInterval):
                number *= len(segments[name]) if name in segments else dimension.count()
        return number

    def _time(self) -> PartitionByInterval:
        if self.definition.time is None:
            raise InvalidDefinitionError(f"{self.definition!r} has no time dimension")
        return self.definition.time


def _start(box: Box) -> int:
    return 0 if box.time_range is None else box.time_range[0]


def _end(box: Box) -> int:
    return 0 if box.time_range is None else box.time_range[1]


def _in_order(boxes: tuple[Box, ...]) -> bool:
    """Whether each box ends before the next one starts."""
    return all(
        one.time_range is not None and other.time_range is not None and one.time_range[1] <= other.time_range[0]
        for one, other in pairwise(boxes)
    )


def _existing(definition: PartitionDefinition, time_range: TimeRange) -> TimeRange:
    """*time_range* within the bounds of the *definition*."""
    time = definition.time
    if time is None:
        raise InvalidDefinitionError(f"{definition!r} has no time dimension, but a selection of it names a time")
    for bound in time_range:
        if FIRST < bound < LAST and time.calendar.floor(bound) != bound:
            raise InvalidKeyError(
                f"a selection of {time!r} names {utc(bound).isoformat()}, where no interval of it begins; expected the"
                " same time zone data where it is written and read: install the same tzdata on both sides",
                given=utc(bound),
            )
    low, high = time.overlapping(*time_range)
    return max(low, time_range[0]), high


def _segment(dimension: PartitionDefinition, value: Any) -> Segment:
    key = dimension.key(value)
    if not isinstance(key, Segment):
        raise InvalidKeyError(f"{value!r} is not a segment of {dimension!r}", given=value)
    return key
