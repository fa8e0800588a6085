"""The keys due at a tick, in order, without a list of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from airflow_partitions.core.calendars.instants import TimeRange, utc
from airflow_partitions.core.definitions import PartitionByInterval, PartitionByProduct, PartitionDefinition
from airflow_partitions.core.errors import InvalidKeyError
from airflow_partitions.core.keys import Key, ProductKey


class DueKeys(Protocol):
    """Keys in the order in which their runs are made."""

    def __iter__(self) -> Iterator[Key]: ...

    def first(self) -> Key | None:
        """The first key, ``None`` if nothing is due."""

    def after(self, text: str, at: int | None) -> Key | None:
        """The key after the one called *text*.

        If the definition no longer has that one: the first with a time later than *at*, or the first of all without
        time.
        """


class ListedDueKeys:
    """Keys that a plug-in chose."""

    def __init__(self, definition: PartitionDefinition, keys: Iterable[Key]) -> None:
        self._definition = definition
        self._keys = [definition.key(key) for key in keys]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._keys)

    def first(self) -> Key | None:
        return self._keys[0] if self._keys else None

    def after(self, text: str, at: int | None) -> Key | None:
        texts = [str(key) for key in self._keys]
        if text in texts:
            i = texts.index(text) + 1
            return self._keys[i] if i < len(self._keys) else None
        for key in self._keys:
            interval = self._definition.interval_of(key)
            if at is not None and interval is not None and interval.time_range[0] > at:
                return key
        return None


class SegmentDueKeys:
    """All keys of a definition without time."""

    def __init__(self, definition: PartitionDefinition) -> None:
        self._definition = definition

    def __iter__(self) -> Iterator[Key]:
        return self._definition.keys()

    def first(self) -> Key | None:
        return next(self._definition.keys(), None)

    def after(self, text: str, at: int | None) -> Key | None:
        try:
            return self._definition.next(self._definition.parse(text))
        except InvalidKeyError:  # the definition changed under the run: which are left is unknowable, make all again
            return self.first()


class RangeDueKeys:
    """All keys whose interval starts in a range of time.

    :param time_range: instants in microseconds since the epoch, cut at boundaries of the definition.
    """

    def __init__(self, definition: PartitionDefinition, time: PartitionByInterval, time_range: TimeRange) -> None:
        self._definition = definition
        self._time = time
        self._time_range = time_range

    def __iter__(self) -> Iterator[Key]:
        return self._definition.keys(utc(self._time_range[0]), utc(self._time_range[1]))

    def first(self) -> Key | None:
        return next(iter(self), None)

    def after(self, text: str, at: int | None) -> Key | None:
        try:
            key = self._definition.parse(text)
        except InvalidKeyError:  # the definition changed under the run: go on after its date
            return None if at is None else self._from(at + 1)
        interval = self._definition.interval_of(key)
        if interval is None:
            return None
        if isinstance(self._definition, PartitionByProduct) and isinstance(key, ProductKey):
            beside = self._definition.beside(key)
            if beside is not None:
                return beside if interval.time_range[0] < self._time_range[1] else None
        following = self._time.next(interval)
        return None if following is None else self._from(following.time_range[0])

    def _from(self, at: int) -> Key | None:
        """The first key whose interval starts at or after *at*."""
        low = max(at, self._time_range[0])
        return next(self._definition.keys(utc(low), utc(self._time_range[1])), None)
