"""Partitions that a task adds while it runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset

from airflow_partitions.definitions.runtime import BOOK
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.runs.claim import claim
from airflow_partitions.runs.key_list import Register, read, settled, write
from airflow_partitions.timetables.asset_extra import published

if TYPE_CHECKING:
    from airflow_partitions.definitions import PartitionAtRuntime
    from airflow_partitions.keys import Segment

log = logging.getLogger(__name__)


class AddingTask:
    """What a running task adds to the assets it writes, until it ends."""

    def __init__(self, context: Mapping[str, Any], definition: PartitionAtRuntime) -> None:
        self._task = context["task"]
        self._events = context["outlet_events"]
        self._run_id: str = context["dag_run"].run_id
        self.definition = definition
        self.assets = [
            outlet
            for outlet in self._task.outlets
            if isinstance(outlet, Asset) and (made := published(outlet.extra)) and made.definition == definition
        ]
        self._registers: dict[str, Register] = {}
        self._added: dict[str, Any] = {}
        self._removed: set[str] = set()

    def add(self, definition: PartitionAtRuntime, keys: list[Segment], metadata: Any, *, once: bool) -> None:
        """Note *keys* for the events of the task's assets."""
        self._check(definition)
        known = self.texts(definition) if once else ()
        for key in keys:
            if key.text not in known:
                self._added.pop(key.text, None)
                self._added[key.text] = metadata
                self._removed.discard(key.text)

    def remove(self, definition: PartitionAtRuntime, key: Segment) -> None:
        """Note that *key* is to be taken off."""
        known = self.texts(definition)
        if key.text not in known:
            nearest = tuple(get_close_matches(key.text, known))
            raise InvalidKeyError(
                f"{key.text!r} is none of the {len(known)} keys of {definition!r}"
                + (f"; nearest: {', '.join(nearest)}" if nearest else ""),
                given=key.value,
                nearest=nearest,
            )
        self._added.pop(key.text, None)
        self._removed.add(key.text)

    def texts(self, definition: PartitionAtRuntime) -> list[str]:
        """The keys there are, with what this task has added and removed."""
        self._check(definition)
        there = (self._register(asset).added for asset in self.assets)
        known = dict.fromkeys(text for added in there for text in added if text not in self._added)
        return [text for text in (*known, *self._added) if text not in self._removed]

    def finish(self) -> None:
        """Put the added keys on the events; an asset to which none was added gets no event."""
        for asset in self.assets:
            events = self._events[asset]
            added = self._added | dict.fromkeys(sorted(events.partition_keys - set(self._added)))
            if added or self._removed:
                register = self._register(asset).without(self._removed)
                write(asset.name, register.with_pending(added, self._run_id) if added else register)
            if added:
                events.add_partitions(list(added))
            else:
                log.info("No partition was added to %s: no event", asset.name)
                self._task.outlets = [outlet for outlet in self._task.outlets if outlet is not asset]

    def _check(self, definition: PartitionAtRuntime) -> None:
        if definition != self.definition or not self.assets:
            written = ", ".join(asset.name for asset in self._task.outlets if isinstance(asset, Asset))
            raise InvalidDefinitionError(
                f"task {self._task.task_id!r} writes no asset with partition={definition!r};"
                f" it writes: {written or 'none'}"
            )

    def _register(self, asset: Asset) -> Register:
        if asset.name not in self._registers:
            self._registers[asset.name] = settled(asset, read(asset.name))
        return self._registers[asset.name]


def take_added(context: Mapping[str, Any]) -> None:
    """Let ``add_partition`` put its keys on the events of the task's assets, until the task ends.

    Runs as the pre-execute hook of every task in a Dag that adds partitions.
    """
    task = context["task"]
    adding = AddingTask(context, context["dag"].timetable.adds)
    BOOK.set(adding)
    if not adding.assets:
        return
    claim(context, "")  # no key is empty: one run at a time adds to an asset, so that its keys have an order
    then = task._post_execute_hook  # noqa: SLF001 - what BaseOperator(post_execute=…) sets

    def finish(context: Mapping[str, Any], result: Any) -> None:
        if then is not None:
            then(context, result)
        adding.finish()

    task._post_execute_hook = finish  # noqa: SLF001
