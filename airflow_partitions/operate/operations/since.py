"""Times since when something is asked for."""

from __future__ import annotations

from datetime import datetime

from airflow_partitions.core.calendars.moment import past_moment


def since_moment(text: str, now: datetime, called: str = "since") -> datetime:
    """The moment that a *text* means, times of day in Airflow's default time zone.

    :param now: aware.
    :param called: the name of what is given.
    :raises InvalidRequestError: if it means none.
    """
    from airflow.settings import TIMEZONE

    return past_moment(text, now, TIMEZONE, called)
