"""The keys of an asset: the valid ones for those who pick some, and those known only at runtime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

import attrs

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.calendars.timeline import FIRST
from airflow_partitions.core.definitions import PartitionAtRuntime, PartitionByInterval, PartitionDefinition
from airflow_partitions.core.dependencies import Selection, parse_selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.errors import SelectionError
from airflow_partitions.core.keys import Interval, Key
from airflow_partitions.engine.graph.partitioned_assets import PartitionedAsset, partitioned_asset
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.keys import AddKeys, ListKeys, RemoveKeys
from airflow_partitions.operate.operations.page import page
from airflow_partitions.operate.requests.runtime_keys import add_runtime_keys, remove_runtime_keys, runtime_keys


def list_keys(asked: ListKeys, _: Asker) -> dict[str, Any]:
    """The keys of closed partitions, materialized or not: the newest intervals first, segments in the declared order.

    Of keys that are known only at runtime those that were added, the newest first, with their metadata.
    """
    asset = partitioned_asset(asked.asset)
    definition = asset.definition
    if asked.dimension is not None:
        definition = _dimension(definition, asked.dimension)
    if isinstance(definition, PartitionAtRuntime):
        return _added_keys(asset, definition, asked)
    now = datetime.now(UTC)
    selection = closed(definition, now)
    if asked.select is not None:
        selection &= parse_selection(definition, asked.select, closed_by=now)
    part = (asked.search or "").casefold()
    is_finite = definition.time is None or definition.time.start is not None or asked.select
    count = len(selection) if is_finite else None
    after = None if asked.cursor is None else definition.parse(asked.cursor)
    every = walk(selection, after, oldest_first=asked.oldest_first)
    keys = (key for key in every if part in str(key).casefold())
    answer = page("keys", keys, asked.limit, lambda key: key_form(definition, key))
    return answer | {"count": None if part else count}


def add_keys(asked: AddKeys, asker: Asker) -> dict[str, Any]:
    """The keys that were added."""
    options: dict[str, Any] = {"reason": asked.reason, "once": asked.once, "dry_run": asked.dry_run}
    asset = partitioned_asset(asked.asset)
    return add_runtime_keys(asset, asked.keys, asked.metadata, by=asker.name, **options).to_json()


def remove_keys(asked: RemoveKeys, _: Asker) -> dict[str, Any]:
    """The keys that were taken off the list."""
    return remove_runtime_keys(partitioned_asset(asked.asset), asked.keys, dry_run=asked.dry_run).to_json()


def _added_keys(asset: PartitionedAsset, definition: PartitionAtRuntime, asked: ListKeys) -> dict[str, Any]:
    """The keys that were added at runtime, the newest first."""
    part = (asked.search or "").casefold()
    selection = None if asked.select is None else parse_selection(definition, asked.select)
    added = runtime_keys(asset)
    keys = [definition.parse(text) for text in added]
    listed = keys if asked.oldest_first else keys[::-1]
    texts = [str(key) for key in listed]
    listed = listed[0 if asked.cursor is None else _first_after(asked.cursor, texts, is_growing=asked.oldest_first) :]
    chosen = (key for key in listed if part in str(key).casefold() and (selection is None or key in selection))
    answer = page(
        "keys", chosen, asked.limit, lambda key: key_form(definition, key) | {"metadata": added[str(key)].metadata}
    )
    if (last := answer["cursor"]) is not None:
        answer["cursor"] = f"{len(texts) - texts.index(last) - 1}:{last}"
    return answer | {"count": None if part or asked.select else len(added)}


def _first_after(cursor: str, texts: Sequence[str], *, is_growing: bool) -> int:
    """Where a page of keys begins that are added and removed meanwhile.

    The cursor is a key, after the number of keys that came after it. If the key is gone, there are still as many or
    fewer of these, where new ones come before them; else all are listed again rather than one left out.

    :param is_growing: whether new keys come at the end.
    :raises SelectionError: if it is none.
    """
    number, _, key = cursor.partition(":")
    if not key or not number.isdecimal():
        raise SelectionError(f"cursor {cursor!r} is not one of a page; expected that of the page before")
    if key in texts:
        return texts.index(key) + 1
    return 0 if is_growing else max(0, len(texts) - int(number))


def closed(definition: PartitionDefinition, now: datetime) -> Selection:
    """All keys whose interval is over, or that have none."""
    if definition.time is None:
        return Selection(definition, (Box(None),))
    last = definition.time.last(now)
    if last is None:
        return Selection(definition)
    low, high = definition.time.overlapping(FIRST, last.time_range[1])
    return Selection(definition, (Box((low, high)),))


def key_form(definition: PartitionDefinition, key: Key) -> dict[str, Any]:
    """The JSON form of a *key*: its text, that of its dimensions, and its interval in the zone of the definition."""
    interval = definition.interval_of(key)
    return {
        "key": str(key),
        "dimensions": {name: str(part) for name, part in definition.dimensions_of(key).items()},
        "start": None if interval is None else interval.start.isoformat(),
        "end": None if interval is None else interval.end.isoformat(),
    }


def _dimension(definition: PartitionDefinition, name: str) -> PartitionDefinition:
    if name in definition.dimensions:
        return definition.dimensions[name]
    names = ", ".join(definition.dimensions)
    raise SelectionError(f"{definition!r} has no dimension {name!r}; expected one of {names}")


def walk(selection: Selection, after: Key | None, *, oldest_first: bool) -> Iterator[Key]:
    """The keys of a *selection* after one of them, interval by interval."""
    definition, time = selection.definition, selection.definition.time
    last = None if after is None else definition.interval_of(after)
    slabs = [(each, tuple(boxes)) for each, boxes in groupby(selection.canonical, key=attrgetter("time_range"))]
    for time_range, boxes in slabs if oldest_first else reversed(slabs):
        if time is None or time_range is None:
            yield from _after(Selection(definition, boxes), after)
            continue
        for interval in _intervals(time, time_range, last, oldest_first=oldest_first):
            each = tuple(attrs.evolve(box, time_range=interval.time_range) for box in boxes)
            yield from _after(Selection(definition, each), after if interval == last else None)


def _intervals(
    time: PartitionByInterval, time_range: TimeRange, last: Interval | None, *, oldest_first: bool
) -> Iterator[Interval]:
    """The intervals of a range from the *last* one on, which is among them."""
    low, high = time_range
    if last is not None:
        start, end = last.time_range
        low, high = (max(low, start), high) if oldest_first else (low, min(high, end))
    if low >= high:
        return
    interval: Interval | None = time.interval_at(low if oldest_first else high - 1)
    while interval is not None and low <= interval.time_range[0] < high:
        yield interval
        interval = time.next(interval) if oldest_first else time.previous(interval)


def _after(keys: Selection, after: Key | None) -> Iterator[Key]:
    """The *keys* that come after one of them; all if that is not given."""
    passed = after is None
    for key in keys:
        if passed:
            yield key
        passed = passed or key == after
