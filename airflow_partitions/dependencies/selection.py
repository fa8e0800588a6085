"""Sets of keys, kept as time ranges and segment sets instead of lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import product
from math import prod
from typing import Any

import attrs

from airflow_partitions.calendars.instants import instant, utc
from airflow_partitions.definitions import (
    PartitionByInterval,
    PartitionByProduct,
    PartitionBySequence,
    PartitionDefinition,
    from_json,
)
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.keys import Interval, Key, ProductKey, Segment
from airflow_partitions.keys.value import from_json as value_from_json
from airflow_partitions.keys.value import to_json as value_to_json


@attrs.frozen
class Box:
    """Keys whose interval starts in *span* and whose segments are among *segments*.

    :ivar span: half-open range of instants in microseconds since the epoch, ``None`` without a time dimension.
    :ivar segments: for each dimension that is not time, the chosen segments; a dimension left out means all of them.
    """

    span: tuple[int, int] | None
    segments: Mapping[str, tuple[Segment, ...]] = attrs.field(factory=dict)


@attrs.frozen
class Selection:
    """A set of keys of *definition*: iterable in order, sized, and answering ``in``, without listing keys.

    :ivar boxes: parts that share no key.
    """

    definition: PartitionDefinition
    boxes: tuple[Box, ...] = ()

    @classmethod
    def of(cls, definition: PartitionDefinition, key: Any) -> Selection:
        """The selection of the one *key*, wrapped or plain."""
        wrapped = definition.parse(key) if isinstance(key, str) else definition.key(key)
        interval = definition.interval_of(wrapped)
        parts = definition.dimensions_of(wrapped)
        segments = {name: (part,) for name, part in parts.items() if isinstance(part, Segment)}
        return cls(definition, (Box(None if interval is None else interval.bounds, segments),))

    @classmethod
    def between(cls, definition: PartitionDefinition, start: datetime, end: datetime) -> Selection:
        """All keys of *definition* whose interval overlaps the aware instants ``[start, end)``.

        :raises InvalidDefinitionError: if the definition has no time dimension, or a bound is naive.
        """
        if definition.time is None:
            raise InvalidDefinitionError(f"{definition!r} has no time dimension; it can't be cut by time")
        low, high = definition.time.span(definition.time.moment(start, "start"), definition.time.moment(end, "end"))
        return cls(definition, (Box((low, high)),) if low < high else ())

    def __len__(self) -> int:
        return sum(self._size(box) for box in self.boxes)

    def __bool__(self) -> bool:
        return any(self._size(box) for box in self.boxes)

    def __iter__(self) -> Iterator[Key]:
        for box in self.boxes:
            yield from self._keys(box)

    def __contains__(self, key: Any) -> bool:
        try:
            wrapped = self.definition.key(key)
        except InvalidKeyError:
            return False
        parts = self.definition.dimensions_of(wrapped)
        return any(self._holds(box, parts) for box in self.boxes)

    def intervals(self) -> Iterator[Interval]:
        """The intervals of the selected keys, in order, each once per box."""
        time = self._time()
        for box in self.boxes:
            if box.span is not None:
                yield from time.keys(utc(box.span[0]), utc(box.span[1]))

    def to_json(self) -> dict[str, Any]:
        """JSON form: the definition's, and per box its span in UTC and its segments."""
        return {
            "definition": self.definition.to_json(),
            "boxes": [
                {
                    "span": None if box.span is None else [utc(bound).isoformat() for bound in box.span],
                    "segments": {n: [value_to_json(s.value) for s in chosen] for n, chosen in box.segments.items()},
                }
                for box in self.boxes
            ],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Selection:
        """The inverse of :meth:`to_json`."""
        definition = from_json(data["definition"])
        boxes = []
        for box in data["boxes"]:
            span = box["span"] and tuple(instant(datetime.fromisoformat(bound)) for bound in box["span"])
            segments = {
                name: tuple(_segment(definition.dimensions[name], value_from_json(v)) for v in values)
                for name, values in box["segments"].items()
            }
            boxes.append(Box(span, segments))
        return cls(definition, tuple(boxes))

    def _size(self, box: Box) -> int:
        times = 1 if box.span is None else self._time().count(utc(box.span[0]), utc(box.span[1]))
        return times * prod(len(choice) for choice in self._choices(box).values())

    def _keys(self, box: Box) -> Iterator[Key]:
        definition, choices = self.definition, self._choices(box)
        if not isinstance(definition, PartitionByProduct):
            if box.span is None:
                yield from next(iter(choices.values()))
            else:
                yield from self._time().keys(utc(box.span[0]), utc(box.span[1]))
            return
        names = tuple(definition.dimensions)
        if box.span is None:
            for parts in product(*(choices[name] for name in names)):
                yield ProductKey(names, parts)
            return
        for interval in self._time().keys(utc(box.span[0]), utc(box.span[1])):
            alone: tuple[Interval | Segment, ...] = (interval,)
            for mixed in product(*(choices.get(name, alone) for name in names)):
                yield ProductKey(names, mixed)

    def _choices(self, box: Box) -> dict[str, tuple[Segment, ...]]:
        choices = {}
        for name, dimension in self.definition.dimensions.items():
            if name in box.segments:
                choices[name] = box.segments[name]
            elif isinstance(dimension, PartitionBySequence):
                choices[name] = dimension.segments
        return choices

    def _holds(self, box: Box, parts: Mapping[str, Interval | Segment]) -> bool:
        for name, part in parts.items():
            if isinstance(part, Interval):
                if box.span is None or not box.span[0] <= part.bounds[0] < box.span[1]:
                    return False
            elif name in box.segments and part not in box.segments[name]:
                return False
        return True

    def _time(self) -> PartitionByInterval:
        if self.definition.time is None:
            raise InvalidDefinitionError(f"{self.definition!r} has no time dimension")
        return self.definition.time


def _segment(dimension: PartitionDefinition, value: Any) -> Segment:
    key = dimension.key(value)
    if not isinstance(key, Segment):
        raise InvalidKeyError(f"{value!r} is not a segment of {dimension!r}", given=value)
    return key
