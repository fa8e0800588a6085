"""Airflow's database, read and written outside the scheduler's own transaction.

The scheduler's session must not be used: it is guarded against commits from outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.orm import Session

T = TypeVar("T")

# Databases cap the parameters of a statement; this is below the caps of all three that Airflow supports.
MOST_PARAMETERS = 10_000


def connection() -> Connection:
    """A connection of its own."""
    return _engine().connect()


def session() -> Session:
    """A session of its own, without automatic commits."""
    from sqlalchemy.orm import Session

    return Session(_engine(), expire_on_commit=False)


def portions(values: Sequence[T], most: int = MOST_PARAMETERS) -> Iterator[Sequence[T]]:
    """*values* in portions that fit into one statement."""
    for start in range(0, len(values), most):
        yield values[start : start + most]


def is_one_machine() -> bool:
    """Whether all of Airflow's processes are on one machine: so it is with SQLite, a file."""
    return _engine().dialect.name == "sqlite"


def _engine() -> Engine:
    from airflow import settings

    if settings.engine is None:
        raise RuntimeError("Airflow's database is not set up in this process; history is for scheduler and API server")
    return settings.engine
