"""Partitions of tables that an engine inserts by the name of a table in the catalog, which is all that it knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table

from airflow_partitions.checks import RowCount
from airflow_partitions.core.errors import CheckError, ForeignRowsError, InvalidDefinitionError, ResultError
from airflow_partitions.storage import Iceberg, Parquet, clean
from tests.authoring.tasks.open_run import DAY, DAYS, OpenRun

INSIDE, OUTSIDE = datetime(2013, 11, 3, 4, tzinfo=UTC), datetime(2013, 11, 4, 5, tzinfo=UTC)


@pytest.fixture
def catalog(tmp_path: Path) -> dict[str, str]:
    return {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": str(tmp_path / "warehouse")}


@pytest.fixture
def table(catalog: dict[str, str]) -> Iceberg:
    columns = {"at": "timestamp", "n": "int"}
    return Iceberg("db.days", credentials=catalog, create=True, partition_on={"day": "at"}, schema=columns)


def named(table: Iceberg, name: str) -> Table:
    """A table of the catalog, as an engine finds it that is told nothing else."""
    return load_catalog(table.catalog, **dict(table.credentials)).load_table(name)


def names(table: Iceberg) -> list[str]:
    """The tables that the catalog knows."""
    return [name for _, name in load_catalog(table.catalog, **dict(table.credentials)).list_tables("db")]


def rows(*moments: datetime) -> pa.Table:
    numbers = pa.array(range(len(moments)), pa.int32())
    return pa.table({"at": pa.array(moments, pa.timestamp("us", tz="UTC")), "n": numbers})


def stored(table: Iceberg) -> list[int]:
    return sorted(row["n"] for row in table.of(DAYS).read(DAY, as_="arrow").to_pylist())


def test_what_is_inserted_by_name_is_published_and_the_name_is_over(table: Iceberg) -> None:
    run = OpenRun(table)
    partition = run.make()
    name = partition.staging_table
    assert name == partition.staging_table_of("delays"), "however often it is asked for"
    named(table, name).append(rows(INSIDE))
    named(table, name).append(rows(INSIDE, INSIDE))
    assert not named(table, "db.days").scan().to_arrow().num_rows, "nobody sees it yet"
    assert run.published()["rows"] == 3
    assert stored(table) == [0, 0, 1]
    assert names(table) == ["days"]


def test_the_table_has_the_columns_of_the_partition_and_nothing_else_of_it(table: Iceberg) -> None:
    first = OpenRun(table)
    named(table, first.make().staging_table).append(rows(INSIDE))
    first.published()
    second = OpenRun(table, run_id="second")
    own = named(table, second.make().staging_table)
    assert [field.name for field in own.schema().fields] == ["at", "n"]
    assert own.current_snapshot() is None
    assert own.metadata.table_uuid != named(table, "db.days").metadata.table_uuid


def test_a_later_publish_of_the_same_try_finds_what_was_inserted(table: Iceberg) -> None:
    """The name is over when what was inserted is taken; the try that failed after that has it still."""
    run = OpenRun(table, checks=[RowCount(at_least=2)])
    named(table, run.make().staging_table).append(rows(INSIDE))
    for number in (1, 2):
        with pytest.raises(CheckError):
            run.published(number)
    assert names(table) == ["days"]


def test_rows_of_another_partition_are_refused_and_what_was_there_stays(table: Iceberg) -> None:
    run = OpenRun(table)
    named(table, run.make().staging_table).append(rows(INSIDE))
    run.published()
    stray = OpenRun(table, run_id="stray")
    named(table, stray.make().staging_table).append(rows(INSIDE, OUTSIDE))
    with pytest.raises(ForeignRowsError):
        stray.published()
    assert stored(table) == [0]


def test_nothing_inserted_rows_deleted_and_another_table_are_refused(table: Iceberg, catalog: dict[str, str]) -> None:
    empty = OpenRun(table)
    _ = empty.make().staging_table
    with pytest.raises(ResultError, match="nothing was appended"):
        empty.published()
    other = OpenRun(table, run_id="other")
    name = other.make().staging_table
    schema = named(table, name).schema()
    tables = load_catalog(table.catalog, **catalog)
    tables.drop_table(name)
    tables.create_table(name, schema).append(rows(INSIDE))
    with pytest.raises(ResultError, match=f"{name}' was dropped and made anew; expected .* INSERT INTO {name}"):
        other.published()


def test_files_elsewhere_than_the_table_says_are_refused(table: Iceberg, tmp_path: Path) -> None:
    run = OpenRun(table)
    own = named(table, run.make().staging_table)
    with own.transaction() as transaction:
        transaction.set_properties({"write.data.path": str(tmp_path / "elsewhere")})
    named(table, f"db.{own.name()[-1]}").append(rows(INSIDE))
    with pytest.raises(ResultError, match=r"elsewhere/.* was not written to .* write\.data\.path"):
        run.published()


def test_names_of_failed_tries_are_cleared_away_with_their_places(table: Iceberg) -> None:
    run = OpenRun(table)
    name = run.make().staging_table
    named(table, name).append(rows(INSIDE))
    soon = datetime.now(UTC) + timedelta(days=8)
    clean(table.of(DAYS))
    clean(table.of(DAYS), now=soon, dry_run=True)
    assert f"db.{names(table)[-1]}" == name
    clean(table.of(DAYS), now=soon)
    assert names(table) == ["days"]
    with pytest.raises(ResultError, match="is gone"):
        run.published()


def test_folders_have_no_table_and_some_catalogs_take_none_in(
    table: Iceberg, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = OpenRun(Parquet(str(tmp_path / "days"), partition_on={"day": "%Y-%m-%d"}))
    with pytest.raises(InvalidDefinitionError, match=r"is no table; expected \{\{ partition\.staging \}\}"):
        _ = files.make().staging_table

    def refuse(*arguments: Any) -> None:
        raise NotImplementedError

    monkeypatch.setattr(SqlCatalog, "register_table", refuse)
    with pytest.raises(InvalidDefinitionError, match="takes in no table that is made already; expected one of type"):
        _ = OpenRun(table).make().staging_table
