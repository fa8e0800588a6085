"""The tables that the models say, that the migrations make, and that each database takes."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import JSON, Column, String, Text, UniqueConstraint
from sqlalchemy.dialects import mysql
from sqlalchemy.schema import CreateIndex, CreateTable

from airflow_partitions.engine.database.manager import AssetPartitionsDBManager
from airflow_partitions.engine.database.models import Base
from airflow_partitions.engine.database.revision import REVISION, REVISIONS, VERSION_TABLE
from tests.engine.database.conftest import OURS, Database

#: What an index of MySQL takes, in bytes.
MYSQL_KEY = 3072
#: Bytes of a letter.
MYSQL_WIDTHS = {"latin1_general_cs": 1, "utf8mb3_bin": 3}
TABLES = Base.metadata.sorted_tables


def scripts() -> ScriptDirectory:
    return AssetPartitionsDBManager(None).get_script_object()


def differences(database: Database) -> list[Any]:
    """Where the models say something else than the database has."""

    def is_ours(_: Any, name: str | None, kind: str, *__: Any) -> bool:
        return kind != "table" or name in Base.metadata.tables

    options = {
        "version_table": VERSION_TABLE,
        "include_object": is_ours,
        "compare_type": True,
        "compare_server_default": True,
    }
    with database.engine.connect() as at:
        return list(compare_metadata(MigrationContext.configure(at, opts=options), Base.metadata))


def test_the_revision_of_this_release_is_the_newest() -> None:
    assert scripts().get_heads() == [REVISION]
    assert list(REVISIONS.values())[-1] == REVISION


def test_the_revision_of_each_release_exists() -> None:
    known = {script.revision for script in scripts().walk_revisions()}
    assert set(REVISIONS.values()) <= known


def test_models_and_migrations_make_the_same(migrated: Database) -> None:
    assert differences(migrated) == []  # by the models
    before = ddl(migrated)
    migrated.airflow("asset-partitions", "downgrade", "--to-revision", "base", "--yes")
    assert not migrated.tables & OURS
    migrated.airflow("db", "migrate", "--use-migration-files")
    assert differences(migrated) == []
    assert ddl(migrated) == before


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # Airflow's own migrations take long on SQLite
def test_a_reset_by_migrations_makes_what_the_models_say(database: Database) -> None:
    database.airflow("db", "reset", "--yes", "--use-migration-files")
    assert database.tables >= OURS
    assert differences(database) == []


def ddl(database: Database) -> dict[str, Any]:
    """The tables as the database tells of them, with more than is compared above."""
    from sqlalchemy import inspect

    inspector = inspect(database.engine)
    return {
        name: (
            [{**column, "type": str(column["type"])} for column in inspector.get_columns(name)],
            inspector.get_pk_constraint(name),
            sorted(inspector.get_foreign_keys(name), key=str),
            sorted(inspector.get_indexes(name), key=str),
            sorted(inspector.get_unique_constraints(name), key=str),
        )
        for name in Base.metadata.tables
    }


def test_a_migration_that_fails_leaves_nothing_behind(migrated: Database) -> None:
    """Of the statements of one migration all count or none, on SQLite too."""
    migrated.airflow("asset-partitions", "downgrade", "--to-revision", "base", "--yes")
    last = Base.metadata.sorted_tables[-1]
    with migrated.engine.begin() as at:  # a view is in the way of the last table, which nobody finds among the tables
        at.exec_driver_sql(f"CREATE VIEW {last.name} AS SELECT 1 AS one")
    with pytest.raises(Exception, match="already exists"):
        migrated.airflow("db", "migrate", "--use-migration-files")
    assert not migrated.tables & OURS - {VERSION_TABLE}
    with migrated.engine.begin() as at:
        at.exec_driver_sql(f"DROP VIEW {last.name}")
    migrated.airflow("db", "migrate", "--use-migration-files")
    assert migrated.tables >= OURS


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_mysql_takes_the_tables(table: Any) -> None:
    dialect = mysql.dialect()
    text = str(CreateTable(table).compile(dialect=dialect))
    assert text.count("VARCHAR") == text.count("VARCHAR(")
    for index in table.indexes:
        str(CreateIndex(index).compile(dialect=dialect))
    uniques = [constraint for constraint in table.constraints if isinstance(constraint, UniqueConstraint)]
    for key in (table.primary_key, *uniques, *table.indexes):
        assert key_length(key.columns) <= MYSQL_KEY, key.name


def test_mysql_takes_the_migrations_both_ways() -> None:
    """MySQL refuses to drop an index that a foreign key needs: the first tables go without their indexes before."""
    text = StringIO()
    context = MigrationContext.configure(dialect_name="mysql", opts={"as_sql": True, "output_buffer": text})
    first = scripts().get_revision(next(iter(REVISIONS.values())))
    with Operations.context(context):
        first.module.upgrade()
        first.module.downgrade()
    assert text.getvalue().count("CREATE TABLE") == text.getvalue().count("DROP TABLE") > 0
    assert "DROP INDEX" not in text.getvalue()


def key_length(columns: Iterable[Column[Any]]) -> int:
    """The bytes that an index of these columns takes in MySQL, at most."""
    length = 0
    for column in columns:
        kind = column.type.dialect_impl(mysql.dialect())
        assert not isinstance(kind, (Text, JSON)), f"{column} can't be in a key of MySQL"
        if isinstance(kind, String):
            # Without a collation of its own a column has that of the database, four bytes at most.
            length += (kind.length or 0) * MYSQL_WIDTHS.get(kind.collation or "", 4)
        else:
            length += 8
    return length
