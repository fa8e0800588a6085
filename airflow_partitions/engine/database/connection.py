"""Airflow's database, read and written outside the scheduler's own transaction.

The scheduler's session must not be used: it is guarded against commits from outside.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import column, event, inspect, select, table

from airflow_partitions.core.errors import NotMigratedError, ReadOnlyError
from airflow_partitions.engine.database.revision import VERSION_TABLE, problem

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine import ExceptionContext
    from sqlalchemy.orm import Session

T = TypeVar("T")

# Databases cap the parameters of a statement; this is below the caps of all three that Airflow supports.
MOST_PARAMETERS = 10_000
#: By Airflow's engines, those of databases that have our tables: it is asked once.
_MIGRATED: WeakKeyDictionary[Engine, Engine] = WeakKeyDictionary()
# Codes of databases that can only be read just now, and of roles that may only read.
_READ_ONLY = {"25006", "42501", 1142, 1290, 1792, 1836, sqlite3.SQLITE_READONLY}


def open_connection() -> Connection:
    """A connection of its own, whose statements raise ``ReadOnlyError`` if nothing can be written.

    :raises NotMigratedError: if the database has not the tables of this release.
    """
    return _engine().connect()


def open_session() -> Session:
    """A session of its own, without automatic commits; its statements raise as those of a :func:`open_connection`.

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
    with _airflow_engine().connect() as connection:
        if not inspect(connection).has_table(VERSION_TABLE):
            return None
        stored: str | None = connection.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))
        return stored


def check_tables() -> None:
    """Refuse a database without our tables, before Airflow's own transaction asks for them: that would end it.

    :raises NotMigratedError: if the database has not the tables of this release.
    """
    _engine()


def _engine() -> Engine:
    """Airflow's engine with errors of ours, once our tables are known to be there."""
    engine = _airflow_engine()
    own = _MIGRATED.get(engine)
    if own is None:
        if (words := problem(revision())) is not None:
            raise NotMigratedError(words)
        own = _MIGRATED[engine] = engine.execution_options()  # whose listeners hear of nothing that is Airflow's
        event.listen(own, "handle_error", _translate)
    return own


def _translate(context: ExceptionContext) -> None:
    """Say in words that nothing can be written."""
    error = context.original_exception
    codes = {getattr(error, "pgcode", None), getattr(error, "sqlite_errorcode", 0) & 0xFF, *error.args[:1]}
    if codes & _READ_ONLY:
        raise ReadOnlyError(
            f"Airflow's database refuses to be written: {str(error).strip()}. What was begun was taken back; ask again"
            " once the database can be written, and Airflow's role may write its tables"
        ) from error


def _airflow_engine() -> Engine:
    from airflow import settings

    if settings.engine is None:
        raise RuntimeError("Airflow's database is not set up in this process; history is for scheduler and API server")
    return settings.engine
