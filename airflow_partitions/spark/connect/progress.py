"""How far a query is, in the log of the task."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any

_log = logging.getLogger(__name__)
_SECONDS = 10


class QueryProgress:
    """Says every ten seconds how many tasks of a query are done."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        """Called by the client while it waits."""
        if done or stages is None or time.monotonic() - self._said < _SECONDS:
            return
        self._said = time.monotonic()
        complete, tasks = 0, 0
        for stage in stages:
            complete, tasks = complete + stage.num_completed_tasks, tasks + stage.num_tasks
        _log.info("%d of %d tasks done, %d running", complete, tasks, inflight_tasks)
