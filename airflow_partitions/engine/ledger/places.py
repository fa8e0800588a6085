"""Places of partitions: start and segments, which take less than keys where there are very many."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from airflow_partitions.core.calendars.instants import instant
from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionByInterval, PartitionDefinition
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.keys import Interval, Key
from airflow_partitions.core.keys.product_key import split_parts


class Place(NamedTuple):
    """The place of a partition.

    :ivar start: of its interval, in microseconds since the epoch; 0 without a time dimension.
    :ivar segments: texts of its segments, in the order of the dimensions.
    """

    start: int
    segments: tuple[str, ...] = ()


class Places:
    """The places of the partitions of a *definition*."""

    def __init__(self, definition: PartitionDefinition) -> None:
        self.definition = definition
        self._dimensions = list(definition.dimensions.values())
        self._starts: dict[str, int] = {}
        self._segments: dict[tuple[str, ...], tuple[str, ...]] = {}

    def of(self, key: Key) -> Place:
        """The place of a *key*."""
        start, segments = 0, []
        for part in self.definition.dimensions_of(key).values():
            if isinstance(part, Interval):
                start = part.time_range[0]
            else:
                segments.append(part.text)
        return Place(start, tuple(segments))

    def key(self, place: Place) -> Key:
        """The key at a *place*."""
        segments = iter(place.segments)
        parts: dict[str, Key] = {
            dimension.name: dimension.interval_at(place.start)
            if isinstance(dimension, PartitionByInterval)
            else dimension.parse(next(segments))
            for dimension in self._dimensions
        }
        return self.definition.key(parts) if len(parts) > 1 else parts[self.definition.name]

    def read(self, text: str, *, checked: bool = False) -> Place:
        """The place of the key with that canonical *text*.

        :param checked: whether the text is known to be one of the definition's; that saves most of the time.
        :raises InvalidKeyError: if there is none, or the text is another spelling of one.
        """
        if len(self._dimensions) == 1:
            (dimension,) = self._dimensions
            if isinstance(dimension, PartitionByInterval):
                return Place(_start(dimension, text, checked=checked))
            return Place(0, (text if checked else _canonical(dimension, text),))
        parts = split_parts(text) if "\\" in text else text.split("|")
        if len(parts) != len(self._dimensions):
            self.definition.parse(text)
        start, segments = 0, []
        for dimension, part in zip(self._dimensions, parts, strict=True):
            if isinstance(dimension, PartitionByInterval):
                if part not in self._starts:
                    self._starts[part] = _start(dimension, part, checked=checked)
                start = self._starts[part]
            else:
                segments.append(part if checked else _canonical(dimension, part))
        key = tuple(segments)
        place = Place(start, self._segments.setdefault(key, key))
        if self.definition.only is not None and not checked:
            self.key(place)  # refuses a combination that does not exist
        return place


def _start(dimension: PartitionByInterval, text: str, *, checked: bool) -> int:
    try:
        at = dimension.moment(text) if dimension.clock.dates else instant(datetime.fromisoformat(text))
    except ValueError:
        at = FIRST
    if checked or (FIRST < at < LAST and dimension.clock.text(at) == text and dimension.starts_at(at)):
        return at
    interval = dimension.parse(text)
    raise InvalidKeyError(f"{text!r} is written {str(interval)!r}", given=text, nearest=(str(interval),))


def _canonical(dimension: PartitionDefinition, text: str) -> str:
    key = dimension.parse(text)
    if str(key) != text:
        raise InvalidKeyError(f"{text!r} is written {str(key)!r}", given=text, nearest=(str(key),))
    return text
