"""Staging tables are read as often as others change them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg import table
from pyiceberg.table import StaticTable

from airflow_partitions import PartitionByInterval
from airflow_partitions.storage import Iceberg, write_many
from airflow_partitions.storage.iceberg.table.shadow import Shadow
from tests.storage.iceberg.tables import DAYS, Try, reference, rows_of, store_of


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of the metadata that is read, of tables in folders."""
    read = StaticTable.from_metadata
    paths: list[str] = []

    def counted(path: str, *words: Any) -> StaticTable:
        paths.append(path)
        return read(path, *words)

    monkeypatch.setattr(StaticTable, "from_metadata", counted)
    return paths


def delays(folder: Path) -> Iceberg:
    return Iceberg(
        "db.delays",
        catalog="lake",
        credentials=dict(reference(folder).properties),
        partition=PartitionByInterval("@daily", name="date", start="2013-01-01"),
        partition_on={"date": "ts"},
        schema={"ts": "timestamp", "delay": "double"},
        create=True,
    )


def rows(*days: int) -> pa.Table:
    return pa.table({"ts": [datetime(2013, 2, day, 12, tzinfo=UTC) for day in days], "delay": [1.0 for _ in days]})


@pytest.mark.parametrize("count", [1, 10])
def test_ed10_a_save_reads_its_staging_table_at_most_once(tmp_path: Path, reads: list[str], count: int) -> None:
    storage, days = delays(tmp_path), range(1, count + 1)
    storage.save({f"2013-02-{day:02}": rows(day) for day in days})
    assert len(reads) <= 1, f"{len(reads)} reads for {count} keys"
    assert len(storage.read(as_="arrow", full_scan=True)) == count


def test_ed10_so_does_one_of_many_partitions(tmp_path: Path, reads: list[str]) -> None:
    storage = delays(tmp_path)
    assert len(write_many(rows(1, 2, 3), storage)) == 3
    assert len(reads) <= 1


def test_et3b_what_is_asked_of_the_metadata_does_not_grow_with_the_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each step of a transaction makes the metadata anew, with all that was there before."""
    made = [0]
    update = table.update_table_metadata

    def counted(*arguments: Any, **more: Any) -> Any:
        made[0] += 1
        return update(*arguments, **more)

    monkeypatch.setattr(table, "update_table_metadata", counted)
    storage, figures = delays(tmp_path), []
    write_many(rows(1), storage)
    for days in (3, 28):
        made[0] = 0
        published = write_many(rows(*range(1, days + 1)), storage, mode="overwrite")
        assert [each.rows for each in published.values()] == [1] * days
        figures.append(made[0])
    assert figures[0] == figures[1] > 0
    assert len(storage.read(as_="arrow", full_scan=True)) == 28


def test_what_another_process_writes_is_read(tmp_path: Path, reads: list[str]) -> None:
    work = Try.begin(store_of(tmp_path, DAYS))
    own = Shadow.open(work.staging.data)
    assert own.rows == 0
    other = Shadow(own.folder)  # as a driver opens it
    other.append(rows_of(DAYS, "2013-01-01", [1, 2]))
    assert own.rows == other.rows == 2
    assert own.rows == 2
    assert len(reads) == 2, "the other's before it wrote, ours after that"
