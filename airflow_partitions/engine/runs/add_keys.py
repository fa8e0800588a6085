"""The task that adds keys of partitions while it runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from airflow.sdk import Asset

from airflow_partitions.core.definitions.runtime import KEY_LIST
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidKeyError, TooManyKeysError
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.engine.ledger.added_keys import AddingRun, RuntimeKeys
from airflow_partitions.engine.runs.claim import claim_keys
from airflow_partitions.engine.runs.emitted_keys import check_emitted_keys
from airflow_partitions.engine.runs.key_list import has_event, keys_asset, read, write
from airflow_partitions.engine.timetables.asset_extra import read_extra

if TYPE_CHECKING:
    from airflow_partitions.core.definitions import PartitionAtRuntime
    from airflow_partitions.core.keys import Segment

log = logging.getLogger(__name__)

# Airflow registers all events of a task in the one request that ends it. After the time-out of its client the request
# is sent again: on PostgreSQL it waits for the row that the first one has locked, on SQLite both register. An event
# took 1 to 14 ms, and for each Dag that waits for it 5 to 50 ms more, the most on a busy machine.
_EVENTS_A_SECOND = 100


class KeyCollector:
    """The keys that a running task adds, until it ends; each becomes an event of the assets it writes."""

    def __init__(self, context: Mapping[str, Any], definition: PartitionAtRuntime) -> None:
        self._task = context["task"]
        self._events = context["outlet_events"]
        self._run = context["dag_run"]
        self.definition = definition
        self.assets = [
            outlet
            for outlet in self._task.outlets
            if isinstance(outlet, Asset)
            and (produced := read_extra(outlet.extra))
            and produced.definition == definition
        ]
        self._added: dict[str, Any] = {}
        self._removed: set[str] = set()

    def add(self, definition: PartitionAtRuntime, keys: list[Segment], metadata: Any, *, once: bool) -> None:
        """Note *keys* for the events of the task's assets."""
        self._check(definition)
        present = frozenset(self.texts(definition)) if once else frozenset()
        texts = [key.text for key in keys if key.text not in present]
        _check_count(len(self._added.keys() | texts) * len(self.assets))
        for text in texts:
            self._added.pop(text, None)
            self._added[text] = metadata
            self._removed.discard(text)

    def remove(self, definition: PartitionAtRuntime, key: Segment) -> None:
        """Note that *key* is to be taken off."""
        present = self.texts(definition)
        if key.text not in present:
            raise InvalidKeyError(
                f"{key.text!r} is none of the {len(present)} keys of {definition!r}",
                given=key.value,
                nearest=partial(nearest_texts, key.text, present),
            )
        self._added.pop(key.text, None)
        self._removed.add(key.text)

    def texts(self, definition: PartitionAtRuntime) -> list[str]:
        """All keys, with what this task has added and removed."""
        self._check(definition)
        present = (text for text in self._keys.added if text not in self._added)
        return [text for text in (*present, *self._added) if text not in self._removed]

    def finish(self) -> None:
        """Put the added keys on the events; an asset to which none was added gets no event."""
        by_asset = {asset.name: self._added | self._own_keys(asset) for asset in self.assets}
        added = {text: metadata for additions in by_asset.values() for text, metadata in additions.items()}
        _check_count(sum(map(len, by_asset.values())))
        if added or self._removed:
            keys = self._keys.without(self._removed)
            if added:
                name = next(name for name, additions in by_asset.items() if additions)
                run = AddingRun(name, self._run.dag_id, self._run.run_id, datetime.now(UTC))
                keys = keys.with_pending(added, run)
            write(self.definition, keys)
        for asset in self.assets:
            if by_asset[asset.name]:
                self._events[asset].add_partitions(list(by_asset[asset.name]))
            else:
                log.info("No partition was added to %s: no event", asset.name)
                self._task.outlets = [outlet for outlet in self._task.outlets if outlet is not asset]

    def _own_keys(self, asset: Asset) -> dict[str, None]:
        """Keys that the task has put on the events of one *asset* by itself."""
        return dict.fromkeys(sorted(self._events[asset].partition_keys - set(self._added)))

    def _check(self, definition: PartitionAtRuntime) -> None:
        if definition != self.definition or not self.assets:
            written = ", ".join(asset.name for asset in self._task.outlets if isinstance(asset, Asset))
            raise InvalidDefinitionError(
                f"task {self._task.task_id!r} writes no asset with partition={definition!r};"
                f" it writes: {written or 'none'}"
            )

    @cached_property
    def _keys(self) -> RuntimeKeys:
        """Those that were there before this task."""
        return read(self.definition).settled(has_event)


def _check_count(events: int) -> None:
    """Refuse more *events* of one task than Airflow registers in time.

    :raises TooManyKeysError: naming the option to raise.
    """
    from airflow.sdk.configuration import conf

    timeout = conf.getfloat("workers", "execution_api_timeout")
    most = int(timeout * _EVENTS_A_SECOND)
    if events > most:
        raise TooManyKeysError(
            f"this task adds {events:,} keys, an event each; expected at most {most:,}, which Airflow registers within"
            f" {timeout:g} s, its [workers] execution_api_timeout. Set that to {-(-events // _EVENTS_A_SECOND)} on the"
            " workers, or add fewer keys in a run"
        )


def collect_keys(context: Mapping[str, Any]) -> None:
    """Let ``add_partition`` put its keys on the events of the task's assets, until the task ends.

    Runs as the pre-execute hook of every task in a Dag that adds partitions.
    """
    task = context["task"]
    collector = KeyCollector(context, context["dag"].timetable.adds)
    KEY_LIST.set(collector)
    if not collector.assets:
        return
    claim_keys(context, keys_asset(collector.definition))
    check_emitted_keys(context)
    then = task._post_execute_hook  # noqa: SLF001 - what BaseOperator(post_execute=…) sets

    def finish(context: Mapping[str, Any], result: Any) -> None:
        if then is not None:
            then(context, result)
        collector.finish()

    task._post_execute_hook = finish  # noqa: SLF001
