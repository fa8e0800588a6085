"""The partition of a run, for tasks, templates and Spark functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar

from airflow_partitions.core.definitions import PartitionDefinition, from_json
from airflow_partitions.core.definitions.runtime import Addition
from airflow_partitions.core.keys import Interval, Key, ProductKey, Segment
from airflow_partitions.core.keys.keyed import Keyed
from airflow_partitions.core.versions import check_version


class Partition(Keyed):
    """One partition of an asset: its key together with its definition.

    ``str(partition)`` is the key's text. ``partition["airport"]`` (``{{ partition.airport }}`` in templates) is the
    value of a dimension. It may be returned by a task, and be pickled: what arrives has the same definition and key.

    :param definition: of the asset's partitions.
    :param key: one of its keys, wrapped or plain, or the key's text.
    :param additions: called for the additions of keys known only at runtime, by text, the newest last.
    :raises InvalidKeyError: if the definition has no such key.
    """

    __slots__ = ("_additions", "definition")
    __version__: ClassVar[int] = 1

    def __init__(
        self,
        definition: PartitionDefinition,
        key: Any,
        additions: Callable[[], Mapping[str, Addition]] | None = None,
    ) -> None:
        self.definition = definition
        self._additions = additions
        #: The key, wrapped: what definitions, dependencies and layouts work with, without parsing its text again.
        self.wrapped: Key = definition.parse(key) if isinstance(key, str) else definition.key(key)

    @property
    def key(self) -> Any:
        """The key, unwrapped: an :class:`Interval`, a segment's plain value, or a :class:`ProductKey` of these."""
        return _plain(self.wrapped)

    @property
    def text(self) -> str:
        """Canonical text of the key."""
        return str(self.wrapped)

    @property
    def interval(self) -> Interval | None:
        """The time covered, ``None`` without a time dimension."""
        return self.definition.interval_of(self.wrapped)

    @property
    def start(self) -> datetime | None:
        """First instant, aware, in the definition's zone; ``None`` without a time dimension."""
        return None if self.interval is None else self.interval.start

    @property
    def end(self) -> datetime | None:
        """First instant after it, aware, in the definition's zone; ``None`` without a time dimension."""
        return None if self.interval is None else self.interval.end

    @property
    def dimensions(self) -> Mapping[str, Any]:
        """The plain value of each dimension, in the declared order."""
        return {name: _plain(part) for name, part in self.definition.dimensions_of(self.wrapped).items()}

    @property
    def metadata(self) -> Any:
        """The metadata added together with a key known only at runtime; ``None`` without."""
        addition = self._addition
        return None if addition is None else addition.metadata

    @property
    def previous(self) -> Partition | None:
        """The partition before this one: back in time with the same segments, or back in the declared order.

        Of a key known only at runtime, the one that was added before it.
        """
        before: Key | str | None
        if self._additions is None:
            before = self.definition.previous(self.wrapped)
        else:
            addition = self._addition
            before = None if addition is None else addition.previous
        return None if before is None else Partition(self.definition, before, self._additions)

    def iter_past_partitions(self) -> Iterator[Partition]:
        """The partitions before this one, nearest first; endless for a calendar without ``start``."""
        met = {self.text}
        before = self.previous
        while before is not None and before.text not in met:
            yield before
            if self._additions is not None:  # a key that was added again may come after one that came after it
                met.add(before.text)
            before = before.previous

    def serialize(self) -> dict[str, Any]:
        """JSON form, which Airflow keeps in an XCom. What was added with a key known only at runtime is not in it."""
        return {"definition": self.definition.to_json(), "key": self.text}

    @classmethod
    def deserialize(cls, data: Mapping[str, Any], version: int) -> Partition:
        """The inverse of :meth:`serialize`; no author's code is imported.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version({"version": version}, cls.__version__, "a partition")
        return Partition(from_json(data["definition"]), data["key"])

    def __reduce__(self) -> tuple[Any, ...]:
        return Partition.deserialize, (self.serialize(), self.__version__)

    @property
    def _addition(self) -> Addition | None:
        return None if self._additions is None else self._additions().get(self.text)

    def __getitem__(self, dimension: str) -> Any:
        try:
            return self.dimensions[dimension]
        except KeyError:
            raise KeyError(f"no dimension {dimension!r}; there are: {', '.join(self.dimensions)}") from None

    def __str__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return f"Partition({self.text!r} of {self.definition!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        return self.wrapped == other.wrapped and self.definition == other.definition

    def __hash__(self) -> int:
        return hash(self.wrapped)


def _plain(key: Key) -> Interval | ProductKey | Any:
    return key.value if isinstance(key, Segment) else key
