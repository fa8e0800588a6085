"""How often a store is asked for what is stored."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from airflow_partitions import PartitionBySequence, Selection
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.stores.commit_log import CommitLog
from airflow_partitions.storage.stores.journal import Journal

KEYS = PartitionBySequence([f"k{number:02}" for number in range(40)], name="letter")
HALF = [f"k{number:02}" for number in range(20)]


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Iterator[list[Any]]:
    """The arguments of all calls of *name*."""
    calls: list[Any] = []
    function: Callable[..., Any] = getattr(owner, name)

    def call(*args: Any, **options: Any) -> Any:
        calls.append(args)
        return function(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, call)
        yield calls


def lake(path: Path, **options: Any) -> Parquet:
    files = Parquet(str(path / "lake"), partition=KEYS, **options)
    files.save(dict.fromkeys(HALF[::2], pa.table({"n": [1]})))
    return files


@pytest.mark.parametrize("where", [Selection.of(KEYS, *HALF), HALF], ids=["selection", "keys"])
def test_a_log_is_read_once_for_many_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: Any) -> None:
    files = lake(tmp_path, log=str(tmp_path / "log"))
    with counted(monkeypatch, CommitLog, "snapshot") as calls:
        assert [str(partition.key) for partition in files.list(where)] == HALF[::2]
        assert len(calls) == 1
        assert all(partition.rows == 1 for partition in files.get_many(where).values())
        assert len(calls) == 2


def test_folders_are_looked_at_one_by_one_and_the_journal_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = lake(tmp_path)
    with counted(monkeypatch, os, "scandir") as listed, counted(monkeypatch, Journal, "pending") as pending:
        partitions = list(files.list(HALF))
        assert [str(partition.key) for partition in partitions] == HALF[::2]
        assert len(pending) == 1
        assert files.path not in [str(folder) for (folder,) in listed]
    with counted(monkeypatch, os, "scandir") as listed:
        assert partitions[0].rows == 1
        assert [str(folder) for (folder,) in listed if "letter" in str(folder)] == [partitions[0].path]
