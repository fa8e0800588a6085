"""Which files a filter leaves, by an index."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.storage import Files, Parquet, field
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.metadata.arrow_types import arrow_type
from airflow_partitions.storage.scan.file_index import needed
from airflow_partitions.storage.scan.snapshot import inventory

LETTERS = PartitionBySequence(["a", "b"], name="letter")
SCHEMA = {"n": "int", "when": "date", "other": "string"}
FIRST, SECOND = date(2013, 1, 1), date(2013, 1, 2)
FILES: dict[str, list[tuple[int | None, date | None, str]]] = {
    "x": [(1, FIRST, "q"), (9, None, "r")],
    "y": [(5, SECOND, "q")],
    "z": [(None, None, "q")],
}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    dataset = Parquet(str(tmp_path / "lake"), partition=LETTERS, schema=SCHEMA, index=["n", "when"])
    schema = pa.schema([(name, arrow_type(kind)) for name, kind in SCHEMA.items()])
    with Commit(dataset) as commit:
        for name, rows in FILES.items():
            table = pa.Table.from_pylist([dict(zip(SCHEMA, row, strict=True)) for row in rows], schema)
            pq.write_table(table, commit.stage("a") / name)
        commit.put("a", schema=SCHEMA)
    return dataset


N, WHEN, OTHER = field("n"), field("when"), field("other")


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (N == 1, "x"),
        (N == "5", "y"),
        (N != 1, "xy"),
        (N.isin([1, 5]), "xy"),
        (N.between(4, 6), "xy"),  # one of x is above 4, another below 6
        (N.between(2, 3), "x"),
        (N.between(None, 5), "x"),
        ((N == 5) | (WHEN == "2013-01-01"), "xy"),
        ((N == 5) & (WHEN == "2013-01-01"), ""),
        (WHEN < "2013-01-02", "x"),
        ((N == 5) & (OTHER == "q"), "y"),
        (OTHER == "q", None),
        ((N == 5) | (OTHER == "q"), None),
        (N == 7, ""),
        (~N.isin([1, 9]), "y"),
        (~N.isin([]), None),  # nulls too
        (N.isin([]), ""),
        (N == None, None),  # noqa: E711
        (N != None, "xy"),  # noqa: E711
        (N > 4.5, "xy"),
        (N == 4.5, ""),
        (N != 4.5, "xy"),
        (N < 2**70, "xy"),
        (N == 2**70, ""),
    ],
)
def test_t6_files_that_may_have_rows(files: Files, where: Any, expected: str | None) -> None:
    (stored,) = inventory(files)
    assert needed(stored, where, SCHEMA.get) == (None if expected is None else set(expected))


def test_es1_a_float_is_compared_as_one(tmp_path: Path) -> None:
    dataset = Parquet(str(tmp_path / "lake"), partition=LETTERS, schema={"v": "float"}, index=["v"])
    dataset.save({"a": pa.table({"v": pa.array([0.1], pa.float32())})})
    (stored,) = dataset.list()
    file, v = set(stored.files), field("v")
    for where in (v == 0.1, v < 0.2, v.isin([0.1]), v != 0.2, v >= 0.1):
        assert needed(stored, where, {"v": "float"}.get) == file
    for where in (v > 0.1, v != 0.1, ~v.isin([0.1])):
        assert needed(stored, where, {"v": "float"}.get) == set()
        assert needed(stored, where, {"v": "double"}.get) == file  # read as such, it is 0.10000000149


@pytest.mark.parametrize(
    ("narrow", "wide", "old", "new"),
    [
        ("float", "double", 0.1, 0.1),
        ("int", "double", 7, 0.5),
        ("tinyint", "bigint", 7, 2**40),
        ("date", "timestamp_ntz", FIRST, datetime.fromisoformat("2013-01-01T12:00")),
        ("decimal(3,1)", "decimal(10,4)", Decimal("0.1"), Decimal("0.1001")),
    ],
)
def test_es10_an_index_stays_right_when_its_column_becomes_wider(
    tmp_path: Path, narrow: str, wide: str, old: Any, new: Any
) -> None:
    dataset = Parquet(str(tmp_path / "lake"), partition=LETTERS, index=["v"])
    dataset.save({key: pa.table({"v": pa.array([old], arrow_type(narrow))}) for key in "ab"})
    dataset.save({"b": pa.table({"v": pa.array([new], arrow_type(wide))})}, mode="append", evolve=True)
    before = dataset.read("a", "arrow")["v"][0].as_py()
    assert before is not None
    for value, keys in ((before, "ab"), (new, "b")):
        where = field("v") == value
        assert sorted(dataset.read(where, "arrow")["letter"].to_pylist()) == list(keys)
        assert all(needed(partition, where, {"v": wide}.get) is not None for partition in dataset.list())


def test_an_append_without_the_index_ends_it(files: Files) -> None:
    with Commit(attrs.evolve(files, index=())) as commit:
        (commit.stage("a") / "w").write_bytes(next(Path(files.path).rglob("z")).read_bytes())
        commit.put("a", mode="append", schema=SCHEMA)
    (stored,) = inventory(files)
    assert needed(stored, N == 1, SCHEMA.get) is None
    assert len(stored.files) == 4
