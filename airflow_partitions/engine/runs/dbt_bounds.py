"""Bounds of a partition as dbt's microbatch models read them from ``DBT_EVENT_TIME_START`` and ``DBT_EVENT_TIME_END``.

dbt takes times without an offset and without fractions of a second, cuts them to the grain of its batches, of which an
hour is the smallest, and leaves the end out: https://docs.getdbt.com/docs/build/incremental-microbatch.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys.nearest import nearest_texts
from airflow_partitions.core.partition import Partition

#: How clocks may be read: in UTC, or as those of the definition's zone show it.
CLOCKS = ("utc", "wall")
_FORM = "%Y-%m-%dT%H:%M:%S"


def dbt_start(partition: Any, clock: str = "utc") -> str:
    """Where the batches of *partition* begin, such as ``2013-03-10T05:00:00``; a filter of templates.

    :param clock: ``utc`` for an ``event_time`` in UTC, ``wall`` for one that is the time in the definition's zone.
    :raises InvalidDefinitionError: if it has no interval, or dbt would read another one.
    """
    return _bounds(partition, clock)[0]


def dbt_end(partition: Any, clock: str = "utc") -> str:
    """Where the batches of *partition* end; that moment is not theirs. As for :func:`dbt_start`."""
    return _bounds(partition, clock)[1]


def _bounds(partition: Any, clock: str) -> tuple[str, str]:
    if clock not in CLOCKS:
        raise InvalidDefinitionError(
            f"dbt's times by clock {clock!r}; expected {' or '.join(map(repr, CLOCKS))}; nearest:"
            f" {nearest_texts(clock, CLOCKS)[0]!r}"
        )
    if not isinstance(partition, Partition) or partition.start is None or partition.end is None:
        raise InvalidDefinitionError(
            f"dbt's batches are intervals of time, and {str(partition)!r} has none; expected a partition with a time"
            " dimension, as in {{ partition | dbt_start }}"
        )
    bounds = [partition.start, partition.end]
    if clock == "utc":
        bounds = [bound.astimezone(UTC) for bound in bounds]
    elif twice := [bound for bound in bounds if _comes_twice(bound)]:
        raise InvalidDefinitionError(
            f"partition {partition} has a bound, {twice[0].isoformat()}, whose time of day comes twice there, so dbt"
            " can't tell which is meant; expected event_time in UTC, batch_size hour, and {{ partition | dbt_start }}"
        )
    if uneven := [bound for bound in bounds if (bound.minute, bound.second, bound.microsecond) != (0, 0, 0)]:
        way = (
            "{{ partition | dbt_start('wall') }}, with event_time as the time of day there"
            if clock == "utc"
            else "hours"
        )
        raise InvalidDefinitionError(
            f"partition {partition} has a bound, {uneven[0].isoformat()}, that is no whole hour, and dbt would cut it"
            f" to one; expected {way}"
        )
    start, end = (bound.strftime(_FORM) for bound in bounds)
    return start, end


def _comes_twice(bound: datetime) -> bool:
    return bound.replace(fold=0).utcoffset() != bound.replace(fold=1).utcoffset()
