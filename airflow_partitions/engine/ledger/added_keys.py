"""The list of the keys that were added to a definition at runtime, in the order in which they were added.

A task writes there what it adds just before it succeeds, and Airflow makes the events when it has succeeded. In between
the task may be killed: what it wrote is pending until an event of its run is there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.definitions.definition import MAX_KEY_LENGTH
from airflow_partitions.core.definitions.runtime import Addition
from airflow_partitions.core.keys.printable import is_printable
from airflow_partitions.core.versions import check_version, read_number, read_time

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionAtRuntime

#: The cell of the list.
CELL = "partitions"
#: What the name of an asset that stands for a list begins with, and its group.
KEYS_OF, KEYS_GROUP = "keys of ", "partition_keys"
_VERSION = 1
#: The clocks of the worker that wrote the cell and of the server that made the events may differ by this much.
CLOCKS = timedelta(minutes=5)


@attrs.frozen
class AddingRun:
    """A run that adds keys.

    :ivar asset: name of an asset that gets an event for each of them.
    :ivar at: time of the addition, aware.
    """

    asset: str
    dag_id: str
    run_id: str
    at: datetime

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return attrs.asdict(self) | {"at": self.at.isoformat()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AddingRun:
        """The inverse of :meth:`to_json`."""
        return cls(data["asset"], data["dag_id"], data["run_id"], read_time(data["at"]))


@attrs.frozen
class RuntimeKeys:
    """The keys added to one definition, by text, the newest last.

    :ivar added: those that count.
    :ivar pending: those that *run* has added, and has perhaps not succeeded with.
    :ivar revision: of the list that the task read which wrote this; ``None`` if there was none: then it knew only of
        what it added.
    """

    added: Mapping[str, Addition] = attrs.field(factory=dict)
    pending: Mapping[str, Addition] = attrs.field(factory=dict)
    run: AddingRun | None = None
    revision: int | None = None

    @property
    def all(self) -> dict[str, Addition]:
        """Additions by key, pending or not."""
        settled = {text: addition for text, addition in self.added.items() if text not in self.pending}
        return settled | dict(self.pending)

    def with_pending(self, keys: Mapping[str, Any], run: AddingRun) -> RuntimeKeys:
        """With *keys* added by a run, in that order; the values are their metadata."""
        return attrs.evolve(self, pending=self._additions(keys), run=run)

    def with_added(self, keys: Mapping[str, Any]) -> RuntimeKeys:
        """With *keys* that count at once, in that order; the values are their metadata."""
        return RuntimeKeys(RuntimeKeys(self.added, self._additions(keys)).all, revision=self.revision)

    def _additions(self, keys: Mapping[str, Any]) -> dict[str, Addition]:
        before = next((text for text in reversed(list(self.added)) if text not in keys), None)
        chain = zip(keys.items(), [before, *keys], strict=False)
        return {text: Addition(previous, metadata) for (text, metadata), previous in chain}

    def without(self, texts: Collection[str]) -> RuntimeKeys:
        """With keys taken off."""
        off = frozenset(texts)
        return attrs.evolve(self, added={text: addition for text, addition in self.added.items() if text not in off})

    def allowed(self, definition: PartitionAtRuntime) -> RuntimeKeys:
        """Without keys that *definition* does not allow (any more)."""

        def keep(additions: Mapping[str, Addition]) -> Mapping[str, Addition]:
            return {
                text: addition if definition.allows(addition.previous or text) else addition._replace(previous=None)
                for text, addition in additions.items()
                if definition.allows(text)
            }

        return attrs.evolve(self, added=keep(self.added), pending=keep(self.pending))

    def settled(self, has_event: Callable[[AddingRun], bool]) -> RuntimeKeys:
        """With nothing pending: that counts if the run that added it *has an event*, and never was if not."""
        if self.run is None:
            return self
        added = self.all if has_event(self.run) else self.added
        return RuntimeKeys(added, revision=self.revision)

    def onto(self, stored: RuntimeKeys, has_event: Callable[[AddingRun], bool]) -> RuntimeKeys:
        """What became of the *stored* list by this one, which a task has written.

        It counts as a whole if it was made of that list. If not, the task did not know what was on it, so that nothing
        is taken off: what it added follows.
        """
        if self.revision == stored.revision:
            return self.settled(has_event)
        others = {text: addition for text, addition in self.added.items() if text not in stored.added}
        keys = RuntimeKeys({**stored.added, **others}, revision=stored.revision)
        if self.run is None or not has_event(self.run):
            return keys
        return keys.with_added({text: addition.metadata for text, addition in self.pending.items()})

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {
            "version": _VERSION,
            "added": [[text, *addition] for text, addition in self.added.items()],
            "pending": [[text, *addition] for text, addition in self.pending.items()],
            "run": None if self.run is None else self.run.to_json(),
            "revision": self.revision,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RuntimeKeys:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(data, _VERSION, "the list of runtime keys")
        added, pending = (_read_additions(data[name]) for name in ("added", "pending"))
        run = None if data["run"] is None else AddingRun.from_json(data["run"])
        return cls(added, pending, run, None if data["revision"] is None else read_number(data["revision"]))


def _read_additions(data: Iterable[Any]) -> dict[str, Addition]:
    additions = {}
    for text, previous, metadata in data:
        if not isinstance(text, str) or not isinstance(previous, str | None):
            raise TypeError(f"{text!r} after {previous!r}: expected texts")
        if not all(len(each) <= MAX_KEY_LENGTH and is_printable(each) for each in (text, previous or "")):
            raise ValueError(f"{text!r} after {previous!r}: expected keys")
        additions[text] = Addition(previous, metadata)
    return additions
