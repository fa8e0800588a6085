"""Lengths of time among the arguments of Airflow's sensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_partitions.core.calendars.duration import duration

#: Airflow itself takes seconds for these, or a timedelta.
_LENGTHS = ("poke_interval", "timeout")


def seconds_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The *arguments* of a sensor, lengths of time in seconds.

    :raises InvalidDefinitionError: for what is no length of time.
    """
    lengths = {name: arguments[name] for name in _LENGTHS if arguments.get(name) is not None}
    return {**arguments, **{name: duration(length).total_seconds() for name, length in lengths.items()}}
