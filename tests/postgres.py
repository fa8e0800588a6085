"""A PostgreSQL of one's own: in a temporary folder, on a free port of this machine, ended by the one who started it."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
from sqlalchemy import URL, create_engine, text

from cluster.postgres import initialise, owner, programs, run
from demo.processes import free_port

#: Nothing here has to survive a power cut.
OPTIONS = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "max_connections": "200"}


@attrs.frozen
class Postgres:
    """A running server."""

    port: int
    password: str = attrs.field(repr=False)

    @property
    def dsn(self) -> str:
        """How psycopg2 connects."""
        return f"host=127.0.0.1 port={self.port} user=airflow password={self.password} dbname=postgres"

    @property
    def url(self) -> str:
        """How Airflow connects."""
        return f"postgresql+psycopg2://airflow:{self.password}@127.0.0.1:{self.port}/postgres"

    @contextmanager
    def database(self, name: str) -> Iterator[URL]:
        """Create an empty database, dropped at the end whoever still uses it; how to connect to it."""
        server = create_engine(self.url, isolation_level="AUTOCOMMIT")
        with server.connect() as at:
            at.execute(text(f'create database "{name}"'))
            yield server.url.set(database=name)
            at.execute(text(f'drop database "{name}" with (force)'))
        server.dispose()

    def copy(self, source: str, name: str) -> None:
        """Put a copy of the database *source*, which nobody uses now, in the place of another."""
        server = create_engine(self.url, isolation_level="AUTOCOMMIT")
        with server.connect() as at:
            at.execute(text(f'drop database "{name}"'))
            at.execute(text(f'create database "{name}" template "{source}"'))
        server.dispose()


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Start a server; its folder is gone when it is ended."""
    with tempfile.TemporaryDirectory(prefix="postgres-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        user = owner()
        if user:
            shutil.chown(folder, user)
        files, server = folder / "cluster", Postgres(free_port(None, 0), secrets.token_hex())
        control = (programs() / "pg_ctl", "--pgdata", files, "--wait")
        initialise(files, server.password, server.port, OPTIONS)
        run(*control, "--log", folder / "log", "start", cwd=folder)
        try:
            yield server
        finally:
            run(*control, "--mode", "immediate", "stop", cwd=folder)  # by the process id in the folder
