"""Patience with a platform that gives no answer for a time."""

from __future__ import annotations

import logging
from typing import Any

from tenacity import before_sleep_log, retry_if_exception_type, stop_after_attempt, wait_fixed

log = logging.getLogger(__name__)
#: So many times in a row a question may stay without an answer: a platform that is started anew is away for minutes.
LIMIT = 10


def patience(errors: tuple[type[Exception], ...], seconds: float) -> dict[str, Any]:
    """How tenacity asks a question until there is an answer.

    :param errors: what is raised where there is none; the last one is raised when the patience has ended.
    :param seconds: between two times that it is asked.
    """
    return {
        "retry": retry_if_exception_type(errors),
        "stop": stop_after_attempt(LIMIT + 1),
        "wait": wait_fixed(seconds),
        "before_sleep": before_sleep_log(log, logging.WARNING),
        "reraise": True,
    }
