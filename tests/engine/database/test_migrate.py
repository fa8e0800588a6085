"""What Airflow's own commands do with our tables."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, insert, inspect, select, text
from sqlalchemy.exc import ProgrammingError

from airflow_partitions.core.errors import NotMigratedError
from airflow_partitions.engine.database.connection import revision
from airflow_partitions.engine.database.models import PREFIX, Base
from airflow_partitions.engine.database.revision import REVISION, REVISIONS, VERSION_TABLE, problem
from tests.engine.database.conftest import OURS, Database, airflows

NOW = datetime(2024, 1, 1, tzinfo=UTC)
DAG_ROW = {"dag_id": "kept", "locked_at": NOW}
TABLE = "asset_partitions_dag"


def others(database: Database) -> dict[str, list[str]]:
    """The columns of all tables that are not ours."""
    inspector = inspect(database.engine)
    return {name: sorted(column["name"] for column in inspector.get_columns(name)) for name in database.tables - OURS}


def stamp(database: Database, version: str | None) -> None:
    """Write the revision that the database is to have."""
    with database.engine.begin() as at:
        at.execute(text(f"DELETE FROM {VERSION_TABLE}"))
        if version is not None:
            at.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES ('{version}')"))


def test_an_empty_database_gets_our_tables(migrated: Database) -> None:
    assert migrated.tables >= OURS
    assert revision() == REVISION
    migrated.airflow("db", "check-migrations", "--migration-wait-timeout", "1")


def test_a_database_that_airflow_had_before_gets_our_tables_and_keeps_all_else(migrated: Database) -> None:
    from airflow.models.asset import AssetModel

    migrated.airflow("asset-partitions", "downgrade", "--to-revision", "base", "--yes")
    assert not migrated.tables & OURS
    before = others(migrated)
    with migrated.engine.begin() as at:
        at.execute(insert(AssetModel).values(name="hourly", uri="hourly", group="asset"))
    migrated.airflow("db", "migrate")
    assert migrated.tables >= OURS
    assert revision() == REVISION
    assert others(migrated) == before
    with migrated.engine.connect() as at:
        assert at.scalars(select(AssetModel.name)).all() == ["hourly"]


def test_migrating_again_changes_nothing(migrated: Database) -> None:
    migrated.put(TABLE, **DAG_ROW)
    migrated.airflow("db", "migrate")
    assert [row["dag_id"] for row in migrated.rows(TABLE)] == ["kept"]


def test_a_reset_drops_our_tables_and_makes_them_again(migrated: Database) -> None:
    migrated.put(TABLE, **DAG_ROW)
    migrated.airflow("db", "reset", "--yes")
    assert migrated.tables >= OURS
    assert migrated.rows(TABLE) == []
    migrated.airflow("db", "reset", "--yes", "--skip-init")
    assert migrated.tables == set()


def test_clean_up_and_export_of_archives_leave_our_tables_alone(migrated: Database, tmp_path: Path) -> None:
    migrated.put(TABLE, **DAG_ROW)
    before = migrated.tables
    migrated.airflow("db", "clean", "--clean-before-timestamp", "2100-01-01T00:00:00+00:00", "--yes")
    assert not [name for name in migrated.tables - before if any(ours in name for ours in OURS)]
    migrated.airflow("db", "export-archived", "--output-path", str(tmp_path), "--yes")
    assert not [file for file in tmp_path.iterdir() if any(ours in file.name for ours in OURS)]
    migrated.airflow("db", "drop-archived", "--yes")
    assert migrated.tables >= OURS
    assert [row["dag_id"] for row in migrated.rows(TABLE)] == ["kept"]


def test_a_downgrade_of_airflow_leaves_our_tables_alone(migrated: Database) -> None:
    migrated.put(TABLE, **DAG_ROW)
    migrated.airflow("db", "downgrade", "--to-version", "3.2.0", "--yes")
    assert [row["dag_id"] for row in migrated.rows(TABLE)] == ["kept"]
    migrated.airflow("db", "migrate")
    assert revision() == REVISION
    assert [row["dag_id"] for row in migrated.rows(TABLE)] == ["kept"]


@pytest.mark.parametrize("left", [1, 3, len(Base.metadata.tables)])
def test_what_a_stopped_migration_has_left_is_made_anew(migrated: Database, left: int) -> None:
    whole = {name: inspect(migrated.engine).get_indexes(name) for name in Base.metadata.tables}
    migrated.airflow("asset-partitions", "downgrade", "--to-revision", "base", "--yes")
    # As it is where each statement counts by itself, on MySQL: some tables, one without its index.
    with migrated.engine.begin() as at:
        for table in Base.metadata.sorted_tables[:left]:
            table.create(at)
        indexes = [index for table in Base.metadata.sorted_tables[:left] for index in table.indexes]
        for index in indexes[-1:]:
            index.drop(at)
    migrated.airflow("db", "migrate")
    assert {name: inspect(migrated.engine).get_indexes(name) for name in Base.metadata.tables} == whole
    assert revision() == REVISION


def test_tables_with_rows_and_without_a_revision_are_left_alone(migrated: Database) -> None:
    migrated.put(TABLE, **DAG_ROW)
    stamp(migrated, None)
    with pytest.raises(NotMigratedError, match=f"{TABLE} has rows, and {VERSION_TABLE} no revision"):
        migrated.airflow("db", "migrate")
    assert [row["dag_id"] for row in migrated.rows(TABLE)] == ["kept"]
    stamp(migrated, REVISION)
    migrated.airflow("db", "migrate")


def test_tables_of_a_newer_release_are_left_alone(migrated: Database) -> None:
    stamp(migrated, "ffffffffffff")
    for words in (("db", "migrate"), ("asset-partitions", "downgrade", "--to-version", "0.1.0", "--yes")):
        with pytest.raises((NotMigratedError, SystemExit), match="those of a newer release"):
            migrated.airflow(*words)
    assert revision() == "ffffffffffff"


def test_check_migrations_says_what_is_missing(migrated: Database, capsys: pytest.CaptureFixture[str]) -> None:
    migrated.airflow("asset-partitions", "downgrade", "--to-revision", "base", "--yes")
    with pytest.raises(TimeoutError):
        migrated.airflow("db", "check-migrations", "--migration-wait-timeout", "1")
    assert str(problem(None)) in capsys.readouterr().out


def test_a_downgrade_to_a_release_and_to_nothing(migrated: Database, capsys: pytest.CaptureFixture[str]) -> None:
    migrated.put(TABLE, **DAG_ROW)
    before = others(migrated)
    first = next(iter(REVISIONS))
    migrated.airflow("asset-partitions", "downgrade", "--to-version", first, "--yes")
    assert revision() == REVISIONS[first]
    assert [row["dag_id"] for row in migrated.rows(TABLE)] == ["kept"]
    migrated.airflow("asset-partitions", "downgrade", "--to-revision", "base", "--show-sql-only")
    assert f"DROP TABLE {TABLE};" in capsys.readouterr().out
    assert migrated.tables >= OURS - {f"{PREFIX}batch_member", f"{PREFIX}limited_run"}
    migrated.airflow("asset-partitions", "downgrade", "--to-revision", "base", "--yes")
    assert others(migrated) == before
    assert not migrated.tables & OURS
    migrated.airflow("asset-partitions", "downgrade", "--to-revision", "base", "--yes")  # nothing is there to drop


def test_an_unknown_revision_is_refused_in_a_sentence(migrated: Database) -> None:
    with pytest.raises(SystemExit, match="Can't locate revision identified by 'nonsense'"):
        migrated.airflow("asset-partitions", "downgrade", "--to-revision", "nonsense", "--yes")


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)  # SQLite has no roles
def test_a_role_that_may_not_make_tables_changes_nothing(migrated: Database) -> None:
    migrated.airflow("asset-partitions", "downgrade", "--to-revision", "base", "--yes")
    engine = create_engine(migrated.url)
    role = f"reader_{migrated.url.database}"
    with engine.begin() as at:
        at.execute(text(f"CREATE ROLE {role} LOGIN PASSWORD 'reader'"))
        at.execute(text("REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
        at.execute(text(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"))
        at.execute(text(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}"))
    with airflows(migrated.url.set(username=role, password="reader")) as database:
        with pytest.raises(ProgrammingError, match="permission denied for schema public"):
            database.airflow("db", "migrate")
        assert not database.tables & OURS
    with engine.begin() as at:
        at.execute(text(f"DROP OWNED BY {role}"))
        at.execute(text(f"DROP ROLE {role}"))
    engine.dispose()
