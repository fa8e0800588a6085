"""Lengths of time, as they may be written."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TypeAlias

from airflow_partitions.core.errors import InvalidDefinitionError

#: A timedelta, seconds, or text such as ``"10m"``.
Length: TypeAlias = "timedelta | float | str"

_DURATION = re.compile(r"(\d+)\s*(s|m|min|h|d|w)")
_UNITS = {"s": "seconds", "m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def duration(length: Length) -> timedelta:
    """A length of time: a timedelta, seconds, or a number with ``s``, ``m`` or ``min``, ``h``, ``d`` or ``w``, as in
    ``"30min"``.

    :raises InvalidDefinitionError: for anything else, and for negative ones.
    """
    try:
        if isinstance(length, timedelta) and length >= timedelta(0):
            return length
        if isinstance(length, (int, float)) and not isinstance(length, bool) and length >= 0:
            return timedelta(seconds=length)
        if isinstance(length, str) and (match := _DURATION.fullmatch(length.strip())):
            return timedelta(**{_UNITS[match[2]]: int(match[1])})
    except OverflowError:  # longer than anything lasts
        pass
    raise InvalidDefinitionError(
        f"{length!r} is not a length of time; expected a timedelta, seconds, or text such as '30min', '12h' or '7d'"
    )
