"""Kartothek: several tables in one dataset. Rows T2 and T8 of the list."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.errors import ConflictError, InvalidDefinitionError, NotStoredError, ResultError, StorageError
from airflow_partitions.storage import Column, Files
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.commit.tables import commit_tables, snapshot_tables
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.filesystem.paths import is_local
from airflow_partitions.storage.scan.stored_partition import inventory

DAYS = PartitionBySequence(["1", "2", "3"], name="day")


def tables(root: str, *names: str, **options: Any) -> list[Files]:
    folder = at(root)
    folder.mkdir(parents=True, exist_ok=True)
    return [Files(f"{root}/{name}", format="text", partition=DAYS, **options) for name in names]


def move(here: str, there: str) -> None:
    """Rename a folder, as far as the file system can."""
    if is_local(here):
        Path(here).rename(there)
    else:
        fs, start = at(here).fs, here.partition("://")[2]
        for file in fs.find(start):
            fs.mv(file, there.partition("://")[2] + file.removeprefix(start))


def write(commits: tuple[Commit, ...], key: str, text: str) -> None:
    for commit in commits:
        (commit.stage(key) / text).write_text(text)
        commit.put(key, mode="overwrite", rows=1)


def stored(files: Files) -> dict[str, list[str]]:
    return {str(p.key): [name.rpartition("/")[2] for name in p.files] for p in inventory(files)}


def test_t2_all_tables_are_changed_together(root: str) -> None:
    orders, items = tables(root, "orders", "items")
    with commit_tables([orders, items]) as commits:
        write(commits, "1", "a")
        write(commits, "2", "a")
        assert stored(orders) == stored(items) == {}
    assert stored(orders) == stored(items) == {"1": ["a"], "2": ["a"]}
    with commit_tables([orders, items]) as commits:
        write(commits, "1", "b")
        for commit in commits:
            commit.drop("2")
    assert stored(orders) == stored(items) == {"1": ["b"]}
    assert {key: marker.rows for key, marker in commits[0].markers.items()} == {"1": 1}


def test_t2_tables_that_are_moved_together_keep_what_they_have(root: str) -> None:
    orders, items = tables(f"{root}/here", "orders", "items")
    for text in "ab":
        with commit_tables([orders, items]) as commits:
            write(commits, "1", text)
    move(f"{root}/here", f"{root}/there")
    assert stored(orders) == {}
    orders, items = tables(f"{root}/there", "orders", "items")
    assert stored(orders) == stored(items) == {"1": ["b"]}
    with commit_tables([orders, items]) as commits:
        write(commits, "2", "c")
    assert stored(orders) == stored(items) == {"1": ["b"], "2": ["c"]}


def test_t2_a_table_that_is_moved_alone_tells_what_is_missing(tmp_path: Path) -> None:
    orders, items = (
        Files(str(tmp_path / name), format="text", partition=DAYS, manifest=str(tmp_path / name / "_manifest"))
        for name in ("orders", "items")
    )
    for text in "ab":
        with commit_tables([orders, items]) as commits:
            write(commits, "1", text)
    (tmp_path / "items").rename(tmp_path / "elsewhere")  # its log leads: it comes first by name
    with pytest.raises(StorageError, match=r"manifest '.*/items/_manifest', which is gone"):
        stored(orders)
    (tmp_path / "elsewhere").rename(tmp_path / "items")
    assert stored(orders) == {"1": ["b"]}


def test_t2_a_failure_in_one_table_changes_none(root: str) -> None:
    orders, items = tables(root, "orders", "items")
    with commit_tables([orders, items]) as commits:
        write(commits, "1", "a")

    def drop() -> None:
        with commit_tables([orders, items]) as commits:
            write(commits, "1", "b")
            for commit in commits:
                commit.drop("3")

    with pytest.raises(NotStoredError):
        drop()
    assert stored(orders) == stored(items) == {"1": ["a"]}


def test_t2_every_partition_has_every_table(root: str) -> None:
    orders, items = tables(root, "orders", "items")

    def write_one() -> None:
        with commit_tables([orders, items]) as commits:
            write(commits, "1", "a")
            write(commits[:1], "2", "a")

    with pytest.raises(ResultError, match=r"partition '2' is changed in table .*orders.*, but not so in .*items"):
        write_one()
    assert stored(orders) == stored(items) == {}


def test_t2_tables_are_partitioned_alike(root: str) -> None:
    (orders,) = tables(root, "orders")
    numbers = Files(f"{root}/items", format="text", partition=DAYS, partition_on={"day": Column("{day}", "int")})
    with (
        pytest.raises(InvalidDefinitionError, match=r"\{'day': 'string'\} and \{'day': 'int'\}"),
        commit_tables([orders, numbers]),
    ):
        pass


def test_t2_two_writers_of_the_same_tables(root: str) -> None:
    orders, items = tables(root, "orders", "items")

    def late() -> None:
        with commit_tables([orders, items]) as commits:
            write(commits, "1", "late")
            with commit_tables([orders, items]) as others:
                write(others, "1", "early")

    with pytest.raises(ConflictError):
        late()
    assert stored(orders) == stored(items) == {"1": ["early"]}


def test_t2_a_commit_of_one_table_amid(root: str) -> None:
    orders, items = tables(root, "orders", "items")
    with commit_tables([orders, items]) as commits:
        write(commits, "1", "a")
        with Commit(items) as commit:
            write((commit,), "2", "b")
    assert stored(orders) == {"1": ["a"]}
    assert stored(items) == {"1": ["a"], "2": ["b"]}


def test_t8_readers_see_all_tables_of_a_commit_or_none(root: str) -> None:
    both = tables(root, "orders", "items")
    with commit_tables(both) as commits:
        for key in ("1", "2"):
            write(commits, key, "0")
    stop, seen = threading.Event(), set()

    def look() -> None:
        while not stop.is_set():
            found = snapshot_tables(both)
            seen.add(tuple(sorted({n.rpartition("/")[2] for t in found for p in t.values() for n in p.files})))

    reader = threading.Thread(target=look)
    reader.start()
    for number in range(1, 8):
        with commit_tables(both) as commits:
            for key in ("1", "2"):
                write(commits, key, str(number))
    stop.set()
    reader.join()
    assert seen
    assert all(len(found) == 1 for found in seen), seen
