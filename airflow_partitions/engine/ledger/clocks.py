"""The difference between clocks that is allowed for."""

from __future__ import annotations

from datetime import timedelta

from airflow_partitions.engine.database.connection import is_one_machine

#: The clocks of API servers, schedulers and the database may differ by this much.
CLOCKS = timedelta(seconds=30)


def tolerance() -> timedelta:
    """The difference to allow for: none on SQLite, whose processes are on one machine."""
    return timedelta(0) if is_one_machine() else CLOCKS
