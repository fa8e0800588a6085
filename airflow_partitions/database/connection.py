"""Airflow's database, read and written outside the scheduler's own transaction.

The scheduler's session must not be used: it is guarded against commits from outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

from sqlalchemy import column, inspect, select, table

from airflow_partitions.database.revision import VERSION_TABLE, problem
from airflow_partitions.errors import NotMigratedError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.orm import Session

T = TypeVar("T")

# Databases cap the parameters of a statement; this is below the caps of all three that Airflow supports.
MOST_PARAMETERS = 10_000
#: Engines of databases that have our tables: it is asked once.
_MIGRATED: WeakSet[Engine] = WeakSet()


def connection() -> Connection:
    """A connection of its own.

    :raises NotMigratedError: if the database has not the tables of this release.
    """
    return _engine().connect()


def session() -> Session:
    """A session of its own, without automatic commits.

    :raises NotMigratedError: if the database has not the tables of this release.
    """
    from sqlalchemy.orm import Session

    return Session(_engine(), expire_on_commit=False)


def portions(values: Sequence[T], most: int = MOST_PARAMETERS) -> Iterator[Sequence[T]]:
    """*values* in portions that fit into one statement."""
    for start in range(0, len(values), most):
        yield values[start : start + most]


def is_one_machine() -> bool:
    """Whether all of Airflow's processes are on one machine: so it is with SQLite, a file."""
    return _engine().dialect.name == "sqlite"


def revision() -> str | None:
    """The revision of our tables that Airflow's database has; ``None`` if they are not there."""
    with _airflow_engine().connect() as at:
        if not inspect(at).has_table(VERSION_TABLE):
            return None
        stored: str | None = at.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))
        return stored


def check_tables() -> None:
    """Refuse a database without our tables, before Airflow's own transaction asks for them: that would end it.

    :raises NotMigratedError: if the database has not the tables of this release.
    """
    _engine()


def _engine() -> Engine:
    """Airflow's engine, once our tables are known to be there."""
    engine = _airflow_engine()
    if engine not in _MIGRATED:
        if (words := problem(revision())) is not None:
            raise NotMigratedError(words)
        _MIGRATED.add(engine)
    return engine


def _airflow_engine() -> Engine:
    from airflow import settings

    if settings.engine is None:
        raise RuntimeError("Airflow's database is not set up in this process; history is for scheduler and API server")
    return settings.engine
