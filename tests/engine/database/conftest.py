"""A database of one's own that is Airflow's in the test, and Airflow's own commands on it."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import attrs
import pytest
from sqlalchemy import URL, Engine, inspect, make_url

from airflow_partitions.engine.database.models import Base
from airflow_partitions.engine.database.revision import VERSION_TABLE
from tests.postgres import Postgres

#: What we have in the database.
OURS = {*Base.metadata.tables, VERSION_TABLE}


@attrs.frozen
class Database:
    """Airflow's database."""

    url: URL

    @property
    def engine(self) -> Engine:
        """Airflow's engine of it, as it is now: commands make another one."""
        from airflow import settings

        assert settings.engine is not None
        return settings.engine

    @property
    def tables(self) -> set[str]:
        """The names of all tables."""
        return set(inspect(self.engine).get_table_names())

    def airflow(self, *words: str) -> None:
        """Run a command of Airflow in this process."""
        from airflow.cli import cli_parser

        args = cli_parser.get_parser().parse_args(words)
        args.func(args)

    def put(self, table: str, **values: Any) -> None:
        """Insert a row."""
        with self.engine.begin() as at:
            at.execute(Base.metadata.tables[table].insert().values(**values))

    def rows(self, table: str) -> list[dict[str, Any]]:
        """All rows of a table of ours."""
        with self.engine.connect() as at:
            return [dict(row) for row in at.execute(Base.metadata.tables[table].select()).mappings()]


@contextmanager
def airflows(url: URL) -> Iterator[Database]:
    """Let Airflow in this process use another database."""
    from airflow import settings

    def use() -> None:
        settings.configure_vars()
        settings.reconfigure_orm()

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", url.render_as_string(hide_password=False))
        use()
        yield Database(url)
    use()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[URL]:
    """The address of an empty database, on each kind of server."""
    if request.param == "sqlite":
        database = nullcontext(make_url(f"sqlite:///{tmp_path / 'airflow.db'}"))
    else:
        server = request.getfixturevalue("database_server")
        database = server.database(f"lifecycle_{secrets.token_hex(4)}")
    with database as url:
        yield url


@pytest.fixture
def database(url: URL) -> Iterator[Database]:
    """An empty database."""
    with airflows(url) as database:
        yield database


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file that ``airflow db migrate`` was run on."""
    file = tmp_path_factory.mktemp("migrated") / "airflow.db"
    with airflows(make_url(f"sqlite:///{file}")) as database:
        database.airflow("db", "migrate")
    return file


@pytest.fixture(scope="session")
def migrated_name(database_server: Postgres) -> Iterator[str]:
    """The name of a database of PostgreSQL that ``airflow db migrate`` was run on."""
    name = "lifecycle_migrated"
    with database_server.database(name) as url:
        with airflows(url) as database:
            database.airflow("db", "migrate")
        yield name


@pytest.fixture
def migrated(url: URL, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A copy of one that ``airflow db migrate`` was run on."""
    assert url.database is not None
    if url.get_backend_name() == "sqlite":
        shutil.copy(request.getfixturevalue("migrated_file"), url.database)
    else:
        server: Postgres = request.getfixturevalue("database_server")
        server.copy(request.getfixturevalue("migrated_name"), url.database)
    with airflows(url) as database:
        yield database
