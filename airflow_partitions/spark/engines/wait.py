"""A wait for the end of a job."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from airflow.sdk.exceptions import AirflowException

_End = TypeVar("_End")


def wait(ending: Callable[[], _End | None], name: str, poll_seconds: int, polls: int) -> _End:
    """How the job *name* has ended, as *ending* tells it once it has.

    :raises AirflowException: if it is at work after so many *polls*.
    """
    for _ in range(polls):
        if (end := ending()) is not None:
            return end
        time.sleep(poll_seconds)
    raise AirflowException(f"{name} has not ended after {polls * poll_seconds:,} s")
