"""Definitions in a few words."""

from __future__ import annotations

from airflow_partitions.core.definitions.definition import PartitionDefinition


def definition_words(definition: PartitionDefinition) -> str:
    """A *definition* in a few words: its dimensions by name, each with what it has, and the zone of its times.

    ``day (daily) x region (3), Europe/Berlin``; ``country (2) x city (9), 9 combinations`` where not all exist;
    ``…, combinations at runtime`` where it is not known here which do.
    """
    several = len(definition.dimensions) > 1
    parts = [_words(name, one, several=several) for name, one in definition.dimensions.items()]
    zone = "" if definition.time is None else f", {definition.time.timezone}"
    only = ", combinations at runtime" if definition.is_open else ""
    if definition.only is not None:
        only = f", {definition.only.size:,} combinations"
    return f"{' x '.join(parts)}{only}{zone}"


def _words(name: str, dimension: PartitionDefinition, *, several: bool) -> str:
    if dimension.time is not None:
        schedule = dimension.time.schedule
        every = schedule.removeprefix("@") if isinstance(schedule, str) else f"each {schedule}"
        return f"{name} ({every})" if several else every
    values = "keys at runtime" if dimension.kind == "runtime" else f"{dimension.count():,}"
    return f"{name} ({values})"
