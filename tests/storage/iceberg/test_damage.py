"""Damaged files of tables are named, whatever their readers stumble over."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from airflow_partitions.core.errors import DamagedError, StorageError
from airflow_partitions.storage import Iceberg
from tests.storage.iceberg.tables import DAYS, SCHEMA, reference, rows_of

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda data: data[: len(data) // 2],
    "other JSON": lambda _: b'{"a": 1}',
    "random": lambda data: random.Random(1).randbytes(len(data)),
    "zeros": lambda data: bytes(len(data)),
}


def delays(folder: Path) -> Iceberg:
    return Iceberg(
        "db.delays",
        catalog="lake",
        credentials=dict(reference(folder).properties),
        partition=DAYS,
        partition_on={"date": "ts"},
        schema=SCHEMA,
        create=True,
    )


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", ["*.metadata.json", "snap-*.avro", "*-m*.avro", "*.parquet"])
def test_eb11_a_damaged_file_is_named(tmp_path: Path, kind: str, damage: str) -> None:
    storage = delays(tmp_path)
    for day in ("2013-01-01", "2013-01-02"):
        storage.save({day: rows_of(DAYS, day, [1, 2])})
    files = sorted((tmp_path / "warehouse").rglob(kind), key=lambda path: path.stat().st_mtime_ns)
    names = [file.name for file in files if "_delays" not in str(file)]
    for file in files:
        file.write_bytes(DAMAGES[damage](file.read_bytes()))

    def refused(action: Callable[[], Any]) -> None:
        with pytest.raises(StorageError) as error:
            action()
        text = str(error.value)
        assert "delays" in text
        assert "metadata of table 'db.delays'" in text or any(name in text for name in names), text
        if damage not in ("empty", "half"):
            assert isinstance(error.value, DamagedError), text

    refused(lambda: storage.read("2013-01-02", "arrow"))
    if kind != "*.parquet":
        refused(lambda: list(storage.list()))
        refused(lambda: storage.save({"2013-01-02": rows_of(DAYS, "2013-01-02", [3])}, mode="overwrite"))


def test_eb12_of_two_that_make_the_tables_of_a_catalog_both_go_on(tmp_path: Path) -> None:
    made: list[str] = []

    def be_quicker(_: Any, __: Any, statement: str, *___: Any) -> None:
        if "CREATE TABLE iceberg_tables" in statement and not made:
            made.append(statement)
            with sqlite3.connect(tmp_path / "catalog.db") as other:
                other.execute(statement)

    event.listen(Engine, "before_cursor_execute", be_quicker)
    try:
        storage = delays(tmp_path)
        storage.save({"2013-01-01": rows_of(DAYS, "2013-01-01", [1, 2])})
    finally:
        event.remove(Engine, "before_cursor_execute", be_quicker)
    assert made
    assert [partition.rows for partition in storage.list()] == [2]
