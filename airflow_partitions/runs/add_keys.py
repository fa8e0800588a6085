"""The task that adds keys of partitions while it runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset

from airflow_partitions.definitions.runtime import KEY_LIST
from airflow_partitions.errors import InvalidDefinitionError, InvalidKeyError
from airflow_partitions.runs.claim import claim
from airflow_partitions.runs.key_list import RuntimeKeys, read, settled, write
from airflow_partitions.timetables.asset_extra import read_extra

if TYPE_CHECKING:
    from airflow_partitions.definitions import PartitionAtRuntime
    from airflow_partitions.keys import Segment

log = logging.getLogger(__name__)


class KeyCollector:
    """The keys that a running task adds to the assets it writes, until it ends."""

    def __init__(self, context: Mapping[str, Any], definition: PartitionAtRuntime) -> None:
        self._task = context["task"]
        self._events = context["outlet_events"]
        self._run_id: str = context["dag_run"].run_id
        self.definition = definition
        self.assets = [
            outlet
            for outlet in self._task.outlets
            if isinstance(outlet, Asset)
            and (produced := read_extra(outlet.extra))
            and produced.definition == definition
        ]
        self._stored: dict[str, RuntimeKeys] = {}
        self._added: dict[str, Any] = {}
        self._removed: set[str] = set()

    def add(self, definition: PartitionAtRuntime, keys: list[Segment], metadata: Any, *, once: bool) -> None:
        """Note *keys* for the events of the task's assets."""
        self._check(definition)
        present = self.texts(definition) if once else ()
        for key in keys:
            if key.text not in present:
                self._added.pop(key.text, None)
                self._added[key.text] = metadata
                self._removed.discard(key.text)

    def remove(self, definition: PartitionAtRuntime, key: Segment) -> None:
        """Note that *key* is to be taken off."""
        present = self.texts(definition)
        if key.text not in present:
            nearest = tuple(get_close_matches(key.text, present))
            raise InvalidKeyError(
                f"{key.text!r} is none of the {len(present)} keys of {definition!r}"
                + (f"; nearest: {', '.join(nearest)}" if nearest else ""),
                given=key.value,
                nearest=nearest,
            )
        self._added.pop(key.text, None)
        self._removed.add(key.text)

    def texts(self, definition: PartitionAtRuntime) -> list[str]:
        """The keys of all its assets, with what this task has added and removed."""
        self._check(definition)
        stored = (text for asset in self.assets for text in self._keys_of(asset).added)
        present = dict.fromkeys(text for text in stored if text not in self._added)
        return [text for text in (*present, *self._added) if text not in self._removed]

    def finish(self) -> None:
        """Put the added keys on the events; an asset to which none was added gets no event."""
        for asset in self.assets:
            events = self._events[asset]
            added = self._added | dict.fromkeys(sorted(events.partition_keys - set(self._added)))
            if added or self._removed:
                keys = self._keys_of(asset).without(self._removed)
                write(asset.name, keys.with_pending(added, self._run_id) if added else keys)
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

    def _keys_of(self, asset: Asset) -> RuntimeKeys:
        if asset.name not in self._stored:
            self._stored[asset.name] = settled(asset, read(asset.name))
        return self._stored[asset.name]


def collect_keys(context: Mapping[str, Any]) -> None:
    """Let ``add_partition`` put its keys on the events of the task's assets, until the task ends.

    Runs as the pre-execute hook of every task in a Dag that adds partitions.
    """
    task = context["task"]
    collector = KeyCollector(context, context["dag"].timetable.adds)
    KEY_LIST.set(collector)
    if not collector.assets:
        return
    claim(context, "")  # no key is empty: one run at a time adds to an asset, so that its keys have an order
    then = task._post_execute_hook  # noqa: SLF001 - what BaseOperator(post_execute=…) sets

    def finish(context: Mapping[str, Any], result: Any) -> None:
        if then is not None:
            then(context, result)
        collector.finish()

    task._post_execute_hook = finish  # noqa: SLF001
