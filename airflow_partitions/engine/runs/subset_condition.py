"""Partitions as the condition of a subset, in OpenLineage's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from openlineage.client.generated.base_subset_dataset import (
    BaseSubsetCondition,
    BinarySubsetCondition,
    CompareSubsetCondition,
    FieldBaseCompareExpression,
    LiteralCompareExpression,
    Partition,
    PartitionSubsetCondition,
)

from airflow_partitions.core.calendars.timeline import FIRST, LAST
from airflow_partitions.core.definitions import PartitionDefinition
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box, intervals, snapped
from airflow_partitions.core.keys import Interval, Key, ProductKey, Segment

#: As many partitions, ranges and values are named one by one. Of more it is told from when to when they are.
MOST_NAMED = 1_000


def condition_of(selection: Selection) -> BaseSubsetCondition | None:
    """The condition that the keys of *selection* meet; ``None`` if all do.

    A key that stands alone is named. Keys of several intervals in a row are a range, from the start of the first to
    the end of the last, with the values that the other dimensions have.
    """
    boxes = selection.boxes if len(selection.boxes) == 1 else selection.canonical
    definition = selection.definition
    if len(boxes) > MOST_NAMED or sum(map(_length, boxes)) > MOST_NAMED:
        if definition.time is None:
            return None
        ranges = [box.time_range for box in boxes if box.time_range is not None]
        boxes = (Box((min(low for low, _ in ranges), max(high for _, high in ranges))),)
    alone: list[Key] = []
    conditions: list[BaseSubsetCondition] = []
    for box in boxes:
        if (key := _only_key(definition, box)) is not None:
            alone.append(key)
            continue
        parts: list[BaseSubsetCondition] = [*_bounds(definition, box), *_values(definition, box)]
        if not parts:
            return None
        conditions.append(joined(parts, "AND"))
    if alone or not conditions:
        conditions.insert(0, PartitionSubsetCondition([partition_of(definition, key) for key in alone]))
    return joined(conditions, "OR")


def condition_of_keys(definition: PartitionDefinition, keys: Sequence[Key]) -> BaseSubsetCondition | None:
    """The condition that *keys* meet: each by its name, if they are not too many."""
    if len(keys) > MOST_NAMED:
        return condition_of(Selection.of(definition, *keys))
    return PartitionSubsetCondition([partition_of(definition, key) for key in keys])


def partition_of(definition: PartitionDefinition, key: Key) -> Partition:
    """The partition *key*: the text of each dimension, and the first instant of an interval and the first after it."""
    dimensions: dict[str, str] = {}
    for name, part in definition.dimensions_of(key).items():
        dimensions[name] = str(part)
        if isinstance(part, Interval):
            dimensions |= {f"{name}.start": part.start.isoformat(), f"{name}.end": part.end.isoformat()}
    return Partition(dimensions, identifier=str(key))


def joined(conditions: Sequence[BaseSubsetCondition], operator: str) -> BaseSubsetCondition:
    """Several *conditions* as one, by ``AND`` or ``OR``: a balanced tree, so that it is not deep."""
    if len(conditions) == 1:
        return conditions[0]
    middle = (len(conditions) + 1) // 2
    left, right = (joined(half, operator) for half in (conditions[:middle], conditions[middle:]))
    return BinarySubsetCondition(left=left, right=right, operator=operator)


def _length(box: Box) -> int:
    """How much there is to be named of a *box*."""
    return max(1, sum(map(len, box.segments.values())))


def _only_key(definition: PartitionDefinition, box: Box) -> Key | None:
    """The key of a *box* that names each of its parts, and holds one."""
    parts: dict[str, Interval | Segment] = {
        name: chosen[0] for name, chosen in box.segments.items() if len(chosen) == 1
    }
    time = definition.time
    if time is not None and box.time_range is not None:
        first = next(intervals(time, box.time_range), None)
        if first is not None and first.time_range[1] >= snapped(time, box.time_range)[1]:
            parts[time.name] = first
    names = tuple(definition.dimensions)
    if parts.keys() != set(names):
        return None
    return parts[names[0]] if len(names) == 1 else ProductKey(names, tuple(parts[name] for name in names))


def _bounds(definition: PartitionDefinition, box: Box) -> Iterator[CompareSubsetCondition]:
    """From when to when the intervals of a *box* are, as far as that is bounded."""
    time = definition.time
    if time is None or box.time_range is None:
        return
    low, high = snapped(time, box.time_range)
    if low > FIRST:
        yield _compared(f"{time.name}.start", "GREATER_EQUAL_THAN", time.clock.datetime(low).isoformat())
    if high < LAST:
        yield _compared(f"{time.name}.end", "LESS_EQUAL_THAN", time.clock.datetime(high).isoformat())


def _values(definition: PartitionDefinition, box: Box) -> Iterator[PartitionSubsetCondition]:
    """The values of each dimension of which a *box* has only some."""
    is_whole_key = len(definition.dimensions) == 1
    for name, chosen in box.segments.items():
        texts = [str(segment) for segment in chosen]
        yield PartitionSubsetCondition([Partition({name: text}, text if is_whole_key else None) for text in texts])


def _compared(field: str, comparison: str, literal: str) -> CompareSubsetCondition:
    return CompareSubsetCondition(
        left=FieldBaseCompareExpression(field), right=LiteralCompareExpression(literal), comparison=comparison
    )
