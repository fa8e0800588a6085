"""Lengths of time, as text."""

from __future__ import annotations

import re
from datetime import timedelta

from airflow_partitions.core.errors import InvalidDefinitionError

_DURATION = re.compile(r"(\d+)\s*(s|min|h|d|w)")
_UNITS = {"s": "seconds", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def duration(length: str | timedelta) -> timedelta:
    """A length of time: a timedelta, or a number with ``s``, ``min``, ``h``, ``d`` or ``w``, as in ``"30min"``.

    :raises InvalidDefinitionError: for anything else, and for negative ones.
    """
    if isinstance(length, timedelta) and length >= timedelta(0):
        return length
    if isinstance(length, str) and (match := _DURATION.fullmatch(length.strip())):
        return timedelta(**{_UNITS[match[2]]: int(match[1])})
    raise InvalidDefinitionError(
        f"{length!r} is not a length of time; expected a timedelta, or text such as '30min', '12h' or '7d'"
    )
