"""Which files a filter leaves, by an index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.storage import Files, field
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.scan.file_index import needed
from airflow_partitions.storage.scan.snapshot import inventory

#: File x has 1 and 9, y has 5, z has nulls alone.
INDEX = {"n": {"1": ("x",), "9": ("x",), "5": ("y",)}, "when": {"2013-01-01": ("x",), "2013-01-02": ("y",)}}
SCHEMA = {"n": "int", "when": "date", "other": "string"}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    made = Files(str(tmp_path / "lake"), format="text", partition=PartitionBySequence(["a"], name="letter"))
    with Commit(made) as commit:
        for name in "xyz":
            (commit.stage("a") / name).write_text(name)
        commit.put("a", index=INDEX, schema=SCHEMA)
    return made


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
    made = Files(str(tmp_path / "lake"), format="text", partition=PartitionBySequence(["a"], name="letter"))
    with Commit(made) as commit:
        (commit.stage("a") / "x").write_text("")
        commit.put("a", index={"v": {"0.1": ("x",)}}, schema={"v": "float"})
    (stored,) = inventory(made)
    v = field("v")
    for where in (v == 0.1, v < 0.2, v.isin([0.1]), v != 0.2, v >= 0.1):
        assert needed(stored, where, {"v": "float"}.get) == {"x"}
    for where in (v > 0.1, v != 0.1, ~v.isin([0.1])):
        assert needed(stored, where, {"v": "float"}.get) == set()
        assert needed(stored, where, {"v": "double"}.get) == {"x"}  # read as such, it is 0.10000000149


def test_an_append_without_the_index_ends_it(files: Files) -> None:
    with Commit(files) as commit:
        (commit.stage("a") / "w").write_text("w")
        commit.put("a", mode="append", schema=SCHEMA)
    (stored,) = inventory(files)
    assert needed(stored, N == 1, SCHEMA.get) is None
    assert len(stored.files) == 4
