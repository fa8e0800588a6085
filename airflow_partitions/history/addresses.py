"""Addresses of the ledger's records: text that sorts by time.

Texts of keys don't sort by time; a row's address does, so that a range of partitions is a range of rows.
"""

from __future__ import annotations

import json
from datetime import datetime
from functools import cached_property
from hashlib import blake2b

import attrs

from airflow_partitions.calendars.instants import instant, utc
from airflow_partitions.definitions import PartitionByInterval, PartitionDefinition
from airflow_partitions.dependencies import KeyFormat
from airflow_partitions.errors import InvalidKeyError
from airflow_partitions.keys import Key, Segment
from airflow_partitions.keys.product_key import split_parts

_MONTH = len("201303")


@attrs.frozen(slots=False)
class Addresses:
    """The addresses of the keys of *definition*: family, start in UTC, segments."""

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

    @cached_property
    def prefix(self) -> str:
        """The start of all addresses."""
        return f"record/{self.family}/"

    def of(self, key: Key) -> str:
        """The address of *key*."""
        interval = self.definition.interval_of(key)
        time = "" if interval is None else moment(interval.time_range[0])
        texts = [part.text for part in self.definition.dimensions_of(key).values() if isinstance(part, Segment)]
        return f"{self.prefix}{time}/{_joined(texts)}"

    def key(self, address: str) -> Key:
        """The key that lives at *address*.

        :raises InvalidKeyError: if the definition has it no longer.
        """
        time, _, joined = address.removeprefix(self.prefix).partition("/")
        dimensions = self.definition.dimensions
        if len(dimensions) == 1:
            return self.definition.parse(time or split_parts(joined)[0])
        segments = iter(split_parts(joined))
        texts = [time if isinstance(d, PartitionByInterval) else next(segments) for d in dimensions.values()]
        return self.definition.parse(_joined(texts))

    def has(self, address: str) -> bool:
        """Whether the definition has a key that lives at *address*."""
        if not address.startswith(self.prefix):
            return False
        time, _, joined = address.removeprefix(self.prefix).partition("/")
        calendar = self.definition.time
        if calendar is not None and not calendar.starts_at(instant(datetime.fromisoformat(time))):
            return False
        if joined not in self._joined:
            try:
                self.key(address)
            except InvalidKeyError:
                return False
            self._joined.add(joined)
        return True

    @cached_property
    def _joined(self) -> set[str]:
        """Segments that the definition has, as they are in addresses."""
        return set()

    def between(self, start: str, end: str) -> tuple[str, str]:
        """Half-open range of addresses with times in ``[start, end)``, both as :func:`moment` or the start of it."""
        return self.prefix + start, self.prefix + end

    def month(self, address: str) -> str:
        """The month in UTC, as ``201303``, in which the key at *address* begins; empty without a time dimension."""
        return address[len(self.prefix) :].partition("/")[0][:_MONTH]


def moment(at: int) -> str:
    """An instant in microseconds since the epoch as text of fixed width, in UTC."""
    when: datetime = utc(at)
    return f"{when.year:04}{when:%m%dT%H%M%S}.{when.microsecond:06}Z"


def month_of(at: int) -> str:
    """The month in UTC of an instant, as ``201303``."""
    return moment(at)[:_MONTH]


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


def _joined(texts: list[str]) -> str:
    return "|".join(text.replace("\\", "\\\\").replace("|", "\\|") for text in texts)
