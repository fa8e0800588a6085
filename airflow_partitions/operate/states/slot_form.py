"""JSON forms of the columns of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from airflow_partitions.core.calendars.instants import TimeRange
from airflow_partitions.core.definitions import PartitionByInterval, PartitionDefinition
from airflow_partitions.operate.states.axis import Slot


def columns_form(
    definition: PartitionDefinition, time_range: TimeRange | None, slots: Sequence[Slot]
) -> dict[str, Any]:
    """The columns of a picture and the stretch of time it shows: keys as texts, times with their UTC offset."""
    time = definition.time
    start, end = (None, None) if time is None or time_range is None else (moment_form(time, at) for at in time_range)
    return {
        "timezone": None if time is None else time.timezone,
        "start": start,
        "end": end,
        "columns": [slot_form(time, slot) for slot in slots],
    }


def slot_form(time: PartitionByInterval | None, slot: Slot) -> dict[str, Any]:
    """A slot of an axis; of *time*, or of another dimension."""
    form: dict[str, Any] = {"first": slot.first, "last": slot.last, "count": slot.count}
    if time is not None and slot.time_range is not None:
        start, end = slot.time_range
        form |= {"start": moment_form(time, start), "end": moment_form(time, end)}
    return form


def moment_form(time: PartitionByInterval, at: int) -> str:
    """An instant in the zone of a calendar."""
    return time.clock.datetime(at).isoformat()
