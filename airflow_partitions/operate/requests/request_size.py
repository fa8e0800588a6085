"""The partitions that a request may be about: some, not too many, and over."""

from __future__ import annotations

from datetime import datetime

from airflow_partitions.core.calendars.timeline import LAST
from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.dependencies.box import Box
from airflow_partitions.core.errors import InvalidKeyError, RequestSizeError


def check_request(selection: Selection, now: datetime) -> None:
    """Refuse a *selection* that is empty, larger than allowed, or has a partition whose interval is not over.

    :raises RequestSizeError: naming the number and the way out.
    :raises InvalidKeyError: naming the first such partition and the newest one that is over.
    """
    check_size(selection)
    if selection.definition.time is None:
        return
    newest = selection.definition.time.last(now)
    if newest is not None:
        later = Box(selection.definition.time.overlapping(newest.time_range[1], LAST))
        selection = selection & Selection(selection.definition, (later,))
    if first := next(iter(selection), None):
        near = "" if newest is None else f"; the newest interval that is over is {newest}"
        raise InvalidKeyError(
            f"the interval of partition {str(first)!r} is not over yet, so nothing can be complete in it{near}",
            given=str(first),
            nearest=() if newest is None else (str(newest),),
        )


def check_size(selection: Selection) -> None:
    """Refuse a *selection* that is empty or larger than allowed.

    :raises RequestSizeError: naming the number and the way out.
    """
    check_number(len(selection))


def check_number(size: int) -> None:
    """Refuse so many partitions, if these are none, or more than allowed; errors as for :func:`check_size`."""
    from airflow.sdk.configuration import conf

    most = conf.getint("asset_partitions", "max_request_size", fallback=100_000)
    if not size:
        raise RequestSizeError("no partition is selected; expected at least one")
    if size > most:
        raise RequestSizeError(
            f"{size:,} partitions are selected; expected at most {most:,}, the [asset_partitions] max_request_size:"
            f" ask for them in {-(-size // most)} parts, one range of time after the other, or raise the limit"
        )
