"""The keys that were added to an asset at runtime, in the order in which they were added.

They are kept in one cell of the asset's state store. A task writes there what it adds just before it succeeds, and
Airflow makes the events when it has succeeded. In between the task may be killed: what it wrote is pending until an
event of its run is there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
from airflow.sdk import Asset
from airflow.sdk.execution_time.context import AssetStateStoreAccessor, InletEventsAccessor

from airflow_partitions.definitions.runtime import Addition
from airflow_partitions.versions import check_version

_CELL = "partitions"
_VERSION = 1
_PAGE = 100
# The clocks of the worker that wrote the cell and of the server that made the events may differ by this much.
_CLOCKS = timedelta(minutes=5)


@attrs.frozen
class RuntimeKeys:
    """The keys added to one asset, by text, the newest last.

    :ivar added: those that count.
    :ivar pending: those that the run *run_id* has added, and has perhaps not succeeded with.
    :ivar written: time of that run's addition, aware.
    """

    added: Mapping[str, Addition] = attrs.field(factory=dict)
    pending: Mapping[str, Addition] = attrs.field(factory=dict)
    run_id: str = ""
    written: datetime | None = None

    @property
    def all(self) -> dict[str, Addition]:
        """Additions by key, pending or not."""
        settled = {text: addition for text, addition in self.added.items() if text not in self.pending}
        return settled | dict(self.pending)

    def with_pending(self, keys: Mapping[str, Any], run_id: str) -> RuntimeKeys:
        """With *keys* added by a run, in that order; the values are their metadata."""
        before = next((text for text in reversed(list(self.added)) if text not in keys), None)
        chain = zip(keys.items(), [before, *keys], strict=False)
        pending = {text: Addition(previous, metadata) for (text, metadata), previous in chain}
        return RuntimeKeys(self.added, pending, run_id, datetime.now(UTC))

    def without(self, texts: Collection[str]) -> RuntimeKeys:
        """With keys taken off."""
        return attrs.evolve(self, added={text: addition for text, addition in self.added.items() if text not in texts})

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {
            "version": _VERSION,
            "added": [[text, *addition] for text, addition in self.added.items()],
            "pending": [[text, *addition] for text, addition in self.pending.items()],
            "run_id": self.run_id,
            "written": None if self.written is None else self.written.isoformat(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RuntimeKeys:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(data, _VERSION, "the list of runtime keys")
        added, pending = (
            {text: Addition(previous, metadata) for text, previous, metadata in data[name]}
            for name in ("added", "pending")
        )
        written = data["written"]
        return cls(added, pending, data["run_id"], None if written is None else datetime.fromisoformat(written))


def read(asset: str) -> RuntimeKeys:
    """The keys of the asset of that name, or of the one that its keys come from.

    :raises UnknownVersionError: if another release wrote them.
    """
    cell: Any = AssetStateStoreAccessor(name=asset).get(_CELL)
    if cell is None:
        return RuntimeKeys()
    check_version(cell, _VERSION, f"the list of runtime keys of asset {asset!r}")
    return read(cell["see"]) if "see" in cell else RuntimeKeys.from_json(cell)


def write(asset: str, keys: RuntimeKeys) -> None:
    """Store the *keys* of an asset."""
    AssetStateStoreAccessor(name=asset).set(_CELL, keys.to_json())


def refer(asset: str, source: str) -> None:
    """Let readers of an asset's keys see those of *source*, unless keys are added to the asset itself too."""
    store = AssetStateStoreAccessor(name=asset)
    cell: Any = store.get(_CELL)
    if cell is None or cell.get("see", source) != source:
        store.set(_CELL, {"version": _VERSION, "see": source})


def settled(asset: Asset, keys: RuntimeKeys) -> RuntimeKeys:
    """The *keys* with nothing pending: that counts if the run that wrote it has an event, and never was if not."""
    if keys.written is None:
        return keys
    return RuntimeKeys(keys.all if _has_event(asset, keys) else keys.added)


def _has_event(asset: Asset, keys: RuntimeKeys) -> bool:
    """Whether the run that wrote *keys* has events; looks from the newest event back."""
    before, oldest = None, (keys.written or datetime.now(UTC)) - _CLOCKS
    while True:
        events = InletEventsAccessor(asset_name=asset.name, asset_uri=asset.uri).ascending(ascending=False).limit(_PAGE)
        page = list(events if before is None else events.before(before.isoformat()))
        if any(event.source_run_id == keys.run_id and event.timestamp >= oldest for event in page):
            return True
        if len(page) < _PAGE or page[-1].timestamp < oldest:
            return False
        before = page[-1].timestamp - timedelta(microseconds=1)
