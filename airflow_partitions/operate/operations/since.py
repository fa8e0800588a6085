"""Times since when something is asked for."""

from __future__ import annotations

from datetime import datetime

from airflow_partitions.core.calendars.moment import past_moment
from airflow_partitions.core.errors import InvalidRequestError


def since_moment(text: str, now: datetime, called: str = "since") -> datetime:
    """The moment that a *text* means, times of day in Airflow's default time zone.

    :param now: aware.
    :param called: the name of what is given.
    :raises InvalidRequestError: if it means none.
    """
    from airflow.settings import TIMEZONE

    return past_moment(text, now, TIMEZONE, called)


def stretch(since: str, until: str | None, now: datetime) -> tuple[datetime, datetime]:
    """From when to when two texts mean; the second one is *now* if it is not given.

    :raises InvalidRequestError: if one means no moment, or they mean none in this order.
    """
    end = now if until is None else since_moment(until, now, "until")
    start = since_moment(since, now)
    if start >= end:
        raise InvalidRequestError(f"since={since!r} is not before until={until!r}; expected an earlier time")
    return start, end
