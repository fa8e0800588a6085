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

_CELL = "partitions"
_PAGE = 100
# The clocks of the worker that wrote the cell and of the server that made the events may differ by this much.
_CLOCKS = timedelta(minutes=5)


@attrs.frozen
class Register:
    """The keys added to one asset, by text, the newest last.

    :ivar added: those that count.
    :ivar pending: those that the run *run_id* has added, and has perhaps not succeeded with.
    :ivar written: when that was.
    """

    added: Mapping[str, Addition] = attrs.field(factory=dict)
    pending: Mapping[str, Addition] = attrs.field(factory=dict)
    run_id: str = ""
    written: datetime | None = None

    @property
    def all(self) -> dict[str, Addition]:
        """How each key was added, pending or not."""
        return {text: how for text, how in self.added.items() if text not in self.pending} | dict(self.pending)

    def with_pending(self, keys: Mapping[str, Any], run_id: str) -> Register:
        """With *keys* added by a run, in that order; the values are their metadata."""
        before = next((text for text in reversed(list(self.added)) if text not in keys), None)
        chain = zip(keys.items(), [before, *keys], strict=False)
        pending = {text: Addition(previous, metadata) for (text, metadata), previous in chain}
        return Register(self.added, pending, run_id, datetime.now(UTC))

    def without(self, texts: Collection[str]) -> Register:
        """With keys taken off."""
        return attrs.evolve(self, added={text: how for text, how in self.added.items() if text not in texts})

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {
            "added": [[text, *how] for text, how in self.added.items()],
            "pending": [[text, *how] for text, how in self.pending.items()],
            "run_id": self.run_id,
            "written": None if self.written is None else self.written.isoformat(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Register:
        """The inverse of :meth:`to_json`."""
        added, pending = (
            {text: Addition(previous, metadata) for text, previous, metadata in data[name]}
            for name in ("added", "pending")
        )
        written = data["written"]
        return cls(added, pending, data["run_id"], None if written is None else datetime.fromisoformat(written))


def read(asset: str) -> Register:
    """The register of the asset of that name, or of the one that its keys come from."""
    cell: Any = AssetStateStoreAccessor(name=asset).get(_CELL)
    if cell is None:
        return Register()
    return read(cell["see"]) if "see" in cell else Register.from_json(cell)


def write(asset: str, register: Register) -> None:
    """Keep the *register* of an asset."""
    AssetStateStoreAccessor(name=asset).set(_CELL, register.to_json())


def refer(asset: str, source: str) -> None:
    """Let readers of an asset's register see that of *source*, unless keys are added to the asset itself too."""
    store = AssetStateStoreAccessor(name=asset)
    cell: Any = store.get(_CELL)
    if cell is None or cell.get("see", source) != source:
        store.set(_CELL, {"see": source})


def settled(asset: Asset, register: Register) -> Register:
    """The *register* with nothing pending: it counts if the run that wrote it has an event, and never was if not."""
    if register.written is None:
        return register
    return Register(register.all if _has_event(asset, register) else register.added)


def _has_event(asset: Asset, register: Register) -> bool:
    """Whether the run that wrote the register has events; looks from the newest event back."""
    before, oldest = None, (register.written or datetime.now(UTC)) - _CLOCKS
    while True:
        events = InletEventsAccessor(asset_name=asset.name, asset_uri=asset.uri).ascending(ascending=False).limit(_PAGE)
        page = list(events if before is None else events.before(before.isoformat()))
        if any(event.source_run_id == register.run_id and event.timestamp >= oldest for event in page):
            return True
        if len(page) < _PAGE or page[-1].timestamp < oldest:
            return False
        before = page[-1].timestamp - timedelta(microseconds=1)
