"""Moments of the past, as text."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta, tzinfo

from airflow_partitions.core.calendars.duration import duration
from airflow_partitions.core.errors import InvalidDefinitionError, InvalidRequestError

_TIME_OF_DAY = re.compile(r"\d\d?:\d\d(:\d\d)?")


def past_moment(text: str, now: datetime, zone: tzinfo, called: str = "since") -> datetime:
    """The moment of the past that a *text* means: ``2h`` before now, the last ``22:00``, or a time with its UTC offset.

    :param now: aware.
    :param zone: that of a time of day.
    :param called: the name of what is given.
    :returns: aware.
    :raises InvalidRequestError: for anything else, and for what is still to come.
    """
    said = text.strip()
    if (moment := _moment(said, now, zone)) is None:
        example = now.astimezone(zone).replace(minute=0)
        raise InvalidRequestError(
            f"{called}={text!r}; expected a length of time before now such as 30min, 2h or 7d, a time such as 22:00"
            f" ({zone}), or a time with its UTC offset such as {example.isoformat(timespec='minutes')}"
        )
    if moment > now:
        raise InvalidRequestError(f"{called}={text!r} is still to come; it is {now.isoformat(timespec='seconds')} now")
    return moment


def _moment(text: str, now: datetime, zone: tzinfo) -> datetime | None:
    try:
        if _TIME_OF_DAY.fullmatch(text):
            at = time.fromisoformat(text.zfill(5) if len(text) < len("00:00") else text)
            today = now.astimezone(zone).date()
            moment = datetime.combine(today, at, zone)
            return moment if moment <= now else datetime.combine(today - timedelta(days=1), at, zone)
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            return now - duration(text)
        except (InvalidDefinitionError, OverflowError):
            return None
    return moment if moment.tzinfo is not None else None
