"""Instants and wall-clock moments as integers: microseconds since 1970-01-01T00:00, in UTC or on a wall clock."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TypeAlias

#: That of Python 3.11 and newer, for drivers with an older one.
UTC = timezone.utc

#: A half-open range of instants: the first one, and the first one after it.
TimeRange: TypeAlias = tuple[int, int]

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_ZERO = EPOCH.toordinal()


def instant(moment: datetime) -> int:
    """Microseconds since the epoch of an aware *moment*."""
    offset = moment.utcoffset()
    return wall_of(moment) - (offset.days * DAY + offset.seconds * SECOND + offset.microseconds if offset else 0)


def utc(at: int) -> datetime:
    """The UTC datetime of an instant."""
    return EPOCH + timedelta(microseconds=at)


def from_iso(text: str) -> datetime:
    """The date and time in *text*, which may end with ``Z``: Python 3.10 does not read that by itself.

    :raises ValueError: if it is not written in ISO's way.
    """
    zulu = text.endswith("Z") and len(text) > len("2013-01-01Z")
    return datetime.fromisoformat(f"{text[:-1]}+00:00" if zulu else text)


def wall_of(moment: datetime) -> int:
    """The time on the wall clock at *moment*; its zone is ignored."""
    # By fields, because subclasses such as pendulum's subtract to something other than a timedelta.
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second
    return (moment.toordinal() - _DAY_ZERO) * DAY + seconds * SECOND + moment.microsecond


def microseconds(length: timedelta) -> int:
    """The *length* in microseconds, exactly."""
    return plain(length) // timedelta(microseconds=1)


def plain(length: timedelta) -> timedelta:
    """*length* as a plain timedelta; subclasses such as pendulum's divide to something else."""
    return timedelta.__add__(timedelta(0), length)
