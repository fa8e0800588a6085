"""The valid keys of an asset, for those who pick some."""

from __future__ import annotations

from collections.abc import Iterator
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
from airflow_partitions.operate.operations.page import USUAL, page
from airflow_partitions.operate.requests.runtime_keys import runtime_keys


def list_keys(
    asset: str,
    *,
    select: str | None = None,
    search: str | None = None,
    dimension: str | None = None,
    oldest_first: bool = False,
    limit: int = USUAL,
    cursor: str | None = None,
) -> dict[str, Any]:
    """The keys of closed partitions, materialized or not: the newest intervals first, segments in the declared order.

    Of keys that are known only at runtime those that were added, the newest first, with their metadata.

    :param select: only these, as text.
    :param search: a part of their texts, in capitals or not.
    :param dimension: name of the dimension whose keys to list instead of the whole keys.
    :raises UnknownAssetError: if no Dag makes, or waits for, partitions of it.
    :raises SelectionError: if the selection can't be read.
    :raises InvalidKeyError: if the selection or the cursor names what is no key.
    """
    named = partitioned_asset(asset)
    definition = named.definition
    if dimension is not None:
        definition = _dimension(definition, dimension)
    if isinstance(definition, PartitionAtRuntime):
        return _added_keys(named, definition, select, search, limit, cursor, oldest_first=oldest_first)
    now = datetime.now(UTC)
    selection = closed(definition, now)
    if select is not None:
        selection &= parse_selection(definition, select, closed_by=now)
    part = (search or "").casefold()
    count = len(selection) if definition.time is None or definition.time.start is not None or select else None
    after = None if cursor is None else definition.parse(cursor)
    keys = (key for key in _walk(selection, after, oldest_first=oldest_first) if part in str(key).casefold())
    answer = page("keys", keys, limit, lambda key: key_form(definition, key))
    return answer | {"count": None if part else count}


def _added_keys(
    asset: PartitionedAsset,
    definition: PartitionAtRuntime,
    select: str | None,
    search: str | None,
    limit: int,
    cursor: str | None,
    *,
    oldest_first: bool,
) -> dict[str, Any]:
    """The keys that were added at runtime, the newest first."""
    part = (search or "").casefold()
    selection = None if select is None else parse_selection(definition, select)
    added = runtime_keys(asset)
    keys = [definition.parse(text) for text in added]
    listed = keys if oldest_first else keys[::-1]
    if cursor is not None:
        texts = [str(key) for key in listed]
        listed = listed[texts.index(cursor) + 1 :] if cursor in texts else []
    chosen = (key for key in listed if part in str(key).casefold() and (selection is None or key in selection))
    answer = page("keys", chosen, limit, lambda key: key_form(definition, key) | {"metadata": added[str(key)].metadata})
    return answer | {"count": None if part or select else len(added)}


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


def _walk(selection: Selection, after: Key | None, *, oldest_first: bool) -> Iterator[Key]:
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
