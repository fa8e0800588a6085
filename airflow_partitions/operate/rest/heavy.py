"""Heavy questions: a server does one of them at a time, so that it has time for all others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Lock

from airflow_partitions.core.errors import BusyError
from airflow_partitions.operate.asker import Asker
from airflow_partitions.operate.contract.operation import Operation

_at_work = Lock()
_whose = ""


@contextmanager
def alone(asked: Operation, asker: Asker) -> Iterator[None]:
    """Nobody else's heavy question is at work in this process while this one is; others need not wait.

    :raises BusyError: if one is at work, saying whose.
    """
    global _whose  # noqa: PLW0603 - of the whole process
    if not asked.is_heavy:
        yield
        return
    if not _at_work.acquire(blocking=False):
        raise BusyError(f"this server does one thing that may take long at a time: {_whose}; ask again once it is done")
    try:
        _whose = f"{asker.name} has asked for {asked.called()} at {datetime.now(UTC):%H:%M:%S} UTC"
        yield
    finally:
        _at_work.release()
