"""The base class of partition definitions."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.core.keys import Interval, Key, Segment

if TYPE_CHECKING:
    from airflow_partitions.core.definitions.combinations import Combinations
    from airflow_partitions.core.definitions.interval import PartitionByInterval
    from airflow_partitions.core.definitions.runtime import PartitionAtRuntime

#: Airflow stores a run's partition key in 250 characters.
MAX_KEY_LENGTH = 250

Moment: TypeAlias = "datetime | date | str"


class PartitionDefinition(ABC):
    """The set of partitions of an asset. Immutable; two definitions with the same JSON form are equal.

    Questions about single keys never build the list of all keys. Keys may be given wrapped or as plain values.
    """

    #: Name of the kind in the JSON form.
    kind: str
    #: Name of the dimension.
    name: str
    #: The combinations of segments that exist; ``None`` if all do.
    only: Combinations | None = None
    #: The definition whose keys, added at runtime, are the combinations that exist; ``None`` if none says it.
    listed: PartitionAtRuntime | None = None

    @abstractmethod
    def keys(self, start: Moment | None = None, end: Moment | None = None) -> Iterator[Key]:
        """The keys in order, lazily; with time, those whose interval starts in ``[start, end)``.

        A bound is an aware datetime, a date (midnight in the definition's zone) or ISO text of either.

        :raises InvalidDefinitionError: for a naive bound, or a missing one where the calendar is open.
        """

    @abstractmethod
    def count(self, start: Moment | None = None, end: Moment | None = None) -> int:
        """Number of keys that :meth:`keys` gives, without listing them."""

    @abstractmethod
    def parse(self, text: str) -> Key:
        """The key whose text is *text*; for times, any ISO text that names the same instant.

        :raises InvalidKeyError: if there is none; the nearest valid texts are in the message.
        """

    @abstractmethod
    def key(self, value: Any) -> Key:
        """Wrap a plain *value* (an :class:`Interval`, a segment's value, a mapping of a product's dimensions), or take
        the key of a :class:`.Partition`.

        :raises InvalidKeyError: if the definition has no such key.
        """

    @abstractmethod
    def previous(self, key: Any) -> Key | None:
        """The key one step back: along time with the same segments, or along the declared order without time."""

    @abstractmethod
    def next(self, key: Any) -> Key | None:
        """The key one step on; the inverse of :meth:`previous`."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :func:`airflow_partitions.core.definitions.from_json`."""

    @property
    def dimensions(self) -> Mapping[str, PartitionDefinition]:
        """The dimensions by name, in order; a definition that is no product is its own only dimension."""
        return {self.name: self}

    @property
    def time(self) -> PartitionByInterval | None:
        """The time dimension, if there is one."""
        return None

    def dimensions_of(self, key: Key) -> Mapping[str, Interval | Segment]:
        """The parts of *key* by dimension name."""
        if isinstance(key, Interval | Segment):
            return {self.name: key}
        return key.wrapped

    def interval_of(self, key: Key) -> Interval | None:
        """The interval of *key*, if the definition has a time dimension."""
        if self.time is None:
            return None
        part = self.dimensions_of(key)[self.time.name]
        return part if isinstance(part, Interval) else None

    def last_interval(self, closed_by: datetime) -> Interval | None:
        """The last interval with keys that is over at *closed_by*, aware; ``None`` without time or such an interval."""
        return None if self.time is None else self.time.last(closed_by)

    def next_interval(self, moment: datetime) -> Interval | None:
        """The first interval with keys that is over after *moment*, aware; ``None`` as for :meth:`last_interval`."""
        if self.time is None:
            return None
        try:
            return self.time.key_at(moment)
        except InvalidKeyError:  # before the definition's start, or after its end
            first = self.time.first()
            return None if first is None or first.start < moment else first

    @property
    def full(self) -> PartitionDefinition:
        """The definition with all combinations of its dimensions, of which it may have only some."""
        return self

    @property
    def is_fixed(self) -> bool:
        """Whether it can list its keys without time: it has none, and none of them is known only at runtime."""
        return False

    @property
    def is_open(self) -> bool:
        """Whether the combinations that exist are added at runtime, and which they are is not known here."""
        return self.listed is not None and self.only is None

    @property
    def declared(self) -> PartitionDefinition:
        """The definition as its author wrote it, without what was added at runtime."""
        return self

    @property
    def known(self) -> PartitionDefinition:
        """The definition with what was added at runtime, in a task that runs; elsewhere as it is."""
        return self

    def having(self, texts: Iterable[str]) -> PartitionDefinition:
        """The definition with the combinations whose *texts* are on its list, if it has one."""
        return self

    def contains(self, key: Any) -> bool:
        """Whether *key*, wrapped or plain, is one of the definition's keys."""
        try:
            self.key(key)
        except InvalidKeyError:
            return False
        return True

    @cached_property
    def _form(self) -> str:
        """The JSON form as text, written once: definitions are compared very often."""
        return json.dumps(self.to_json(), sort_keys=True)

    @cached_property
    def _hash(self) -> int:
        return hash(self._form)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartitionDefinition):
            return NotImplemented
        return self is other or (self._hash == other._hash and self._form == other._form)

    def __hash__(self) -> int:
        return self._hash

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{self!r} is immutable; {name!r} can't be set: define another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{self!r} is immutable; {name!r} can't be removed: define another one")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_hash"}  # another one in each process


def check_definition(definition: Any) -> PartitionDefinition:
    """*definition*, if it is a definition."""
    if not isinstance(definition, PartitionDefinition):
        schedule = definition if isinstance(definition, str) and definition.startswith("@") else "@daily"
        example = f"PartitionByInterval({schedule!r})"
        if isinstance(definition, list | tuple):
            example = f"PartitionBySequence({list(definition)!r})"
        raise InvalidDefinitionError(
            f"partition={definition!r} is not a partition definition; expected for example {example}"
        )
    return definition


def check_name(name: str) -> str:
    """A dimension's *name*, if it is usable as an identifier, a column and a template attribute."""
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise InvalidDefinitionError(f"dimension name {name!r} is not usable; expected an identifier such as 'region'")
    return name


def check_length(text: str, where: str) -> None:
    """Refuse a key *text* that Airflow could not store."""
    if len(text) > MAX_KEY_LENGTH:
        raise InvalidDefinitionError(
            f"{where}: key {text[:40]!r}… has {len(text)} characters; expected at most {MAX_KEY_LENGTH},"
            " the length Airflow stores"
        )
