"""Instants and wall-clock moments as integers: microseconds since 1970-01-01T00:00, in UTC or on a wall clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


def instant(moment: datetime) -> int:
    """Microseconds since the epoch of an aware *moment*."""
    return (moment - EPOCH) // _MICROSECOND


def utc(at: int) -> datetime:
    """The UTC datetime of an instant."""
    return EPOCH + timedelta(microseconds=at)


def wall_of(moment: datetime) -> int:
    """What the wall clock shows at *moment*; its zone is ignored."""
    return (moment.replace(tzinfo=None) - _NAIVE_EPOCH) // _MICROSECOND
