"""Addresses of partitions in the ledger: they sort by time.

Texts of keys don't sort by time; an address does, so that a range of partitions is a range of rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import attrs

from airflow_partitions.core.calendars.instants import UTC, TimeRange, instant, utc
from airflow_partitions.core.definitions import PartitionByInterval, PartitionDefinition
from airflow_partitions.core.dependencies import KeyFormat
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.keys import Key, Segment
from airflow_partitions.core.keys.product_key import split_parts


class Address(NamedTuple):
    """The address of a partition.

    :ivar start: of its interval, in microseconds since the epoch; 0 without a time dimension.
    :ivar segments: texts of its segments, joined.
    """

    start: int
    segments: str = ""


@attrs.frozen(slots=False)
class Addresses:
    """The addresses of the keys of *definition*, and the family that they are of."""

    definition: PartitionDefinition

    @classmethod
    def by(cls, definition: PartitionDefinition | KeyFormat) -> Addresses:
        """Those of the keys that events with texts of *definition* are about."""
        return cls(definition.definition if isinstance(definition, KeyFormat) else definition)

    @cached_property
    def family(self) -> str:
        """Short name of all definitions whose keys mean the same.

        Another ``start``, ``end`` or list of values makes no other family: the keys that remain keep their rows.
        """
        parts: dict[str, object] = {}
        for name, dimension in self.definition.dimensions.items():
            form = dimension.to_json()
            parts[name] = {
                field: form[field] for field in ("kind", "schedule", "seconds", "timezone", "name") if field in form
            }
        return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=6).hexdigest()

    def of(self, key: Key) -> Address:
        """The address of *key*."""
        start, texts = 0, []
        for part in self.definition.dimensions_of(key).values():
            if isinstance(part, Segment):
                texts.append(part.text)
            else:
                start = part.time_range[0]
        return Address(start, joined(texts))

    def key(self, address: Address) -> Key:
        """The key that lives at *address*.

        :raises InvalidKeyError: if the definition has it no longer.
        """
        parts = self._parts(address)
        return self.definition.key(parts) if len(parts) > 1 else next(iter(parts.values()))

    def _parts(self, address: Address) -> dict[str, Key]:
        """The parts of the key at an *address*, by dimension."""
        segments = iter(self.texts(address.segments))
        parts: dict[str, Key] = {}
        for name, dimension in self.definition.dimensions.items():
            if isinstance(dimension, PartitionByInterval):
                interval = dimension.interval_at(address.start)
                if interval.time_range[0] != address.start:
                    raise InvalidKeyError(f"no interval starts at {utc(address.start)}", given=str(utc(address.start)))
                parts[name] = interval
            else:
                parts[name] = dimension.parse(next(segments))
        return parts

    def has(self, address: Address) -> bool:
        """Whether the definition has a key that lives at *address*."""
        start, segments = address
        if start not in self._known_starts:
            time = self.definition.time
            self._known_starts[start] = time is None or time.starts_at(start)
        if segments not in self._known_segments:
            self._known_segments[segments] = self._has_segments(segments)
        if not (self._known_starts[start] and self._known_segments[segments]):
            return False
        return self.definition.only is None or self.definition.contains(self._parts(address))

    def texts(self, segments: str) -> tuple[str, ...]:
        """The texts of the *segments* of an address."""
        if not self._segmented:
            return ()
        return tuple(split_parts(segments)) if "\\" in segments else tuple(segments.split("|"))

    def _has_segments(self, segments: str) -> bool:
        try:
            for dimension, text in zip(self._segmented, self.texts(segments), strict=True):
                dimension.parse(text)
        except (InvalidKeyError, ValueError):
            return False
        return True

    @cached_property
    def _segmented(self) -> list[PartitionDefinition]:
        """The dimensions that are not time."""
        return [each for each in self.definition.dimensions.values() if not isinstance(each, PartitionByInterval)]

    @cached_property
    def _known_starts(self) -> dict[int, bool]:
        """Whether the definition has intervals that start at these instants."""
        return {}

    @cached_property
    def _known_segments(self) -> dict[str, bool]:
        """Whether the definition has these segments."""
        return {}

    def month(self, address: Address) -> str:
        """The month in UTC, as ``201303``, in which the key at *address* begins; empty without a time dimension."""
        return "" if self.definition.time is None else month_of(address.start)


def month_of(at: int) -> str:
    """The month in UTC of an instant, as ``201303``."""
    when = utc(at)
    return f"{when.year:04}{when.month:02}"


def month_range(month: str) -> TimeRange:
    """The instants of a month in UTC, as :func:`month_of` names it."""
    first = datetime(int(month[:4]), int(month[4:]), 1, tzinfo=UTC)
    after = first.replace(day=28) + timedelta(days=4)
    return instant(first), instant(after.replace(day=1))


def keys_of(definition: PartitionDefinition | KeyFormat, text: str) -> tuple[Key, ...]:
    """The keys that an event with *text* is about.

    :raises InvalidKeyError: if there are none. Another spelling of a key is none: events are looked up by their texts.
    """
    if isinstance(definition, KeyFormat):
        return definition.keys(text)
    key = definition.parse(text)
    if str(key) != text:
        raise InvalidKeyError(f"{text!r} is written {str(key)!r}; give that text", given=text, nearest=(str(key),))
    return (key,)


def joined(texts: Iterable[str]) -> str:
    """Texts of segments as they are in an address."""
    return "|".join(text.replace("\\", "\\\\").replace("|", "\\|") for text in texts)
