"""Commits of several partitions on a local disk that refuses, and what readers see while they are made."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.core.errors import (
    ConflictError,
    InvalidDefinitionError,
    StorageError,
    StoredError,
    UnknownOutcomeError,
)
from airflow_partitions.storage import Files
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.filesystem import exchange
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.maintenance.cleanup import clean
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.scan.snapshot import inventory, snapshot
from airflow_partitions.storage.stores import commit_log, journal
from airflow_partitions.storage.stores.journal import COMMITS, Move, Places
from airflow_partitions.storage.stores.last_commit import locked

LETTERS = PartitionBySequence(list("abcd"), name="letter")


@pytest.fixture(params=["kernel", "two renames"])
def files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Files:
    if request.param == "two renames":
        monkeypatch.setattr(exchange, "_libc_renameat2", lambda: None)
    dataset = Files(str(tmp_path / "lake"), format="text", partition=LETTERS)
    with Commit(dataset) as commit:
        for letter in "abc":
            put(commit, letter, "old")
    return dataset


def aside(files: Files) -> Path:
    return Path(str(bookkeeping(Path(files.path))))


def put(commit: Commit, letter: str, text: str, mode: str = "overwrite") -> None:
    (commit.stage(letter) / text).write_text(text)
    commit.put(letter, mode=mode, rows=1)


def change_all(files: Files) -> None:
    with Commit(files) as commit:
        put(commit, "a", "new")
        put(commit, "b", "new", "append")
        commit.drop("c")
        put(commit, "d", "new")


def content(files: Files) -> dict[str, list[str]]:
    return {p.values["letter"]: [name.rpartition("-")[2] for name in p.files] for p in snapshot(files).values()}


OLD = {"a": ["old"], "b": ["old"], "c": ["old"]}
NEW = {"a": ["new"], "b": ["new", "old"], "d": ["new"]}


def test_all_of_it_is_made(files: Files) -> None:
    change_all(files)
    assert content(files) == NEW
    b = files.get("b")
    assert b is not None
    assert b.rows == 2


@pytest.mark.parametrize("failing", [1, 2, 3, 4])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
def test_what_a_file_system_refuses_is_taken_back(
    files: Files, monkeypatch: pytest.MonkeyPatch, failing: int, code: int
) -> None:
    calls, do = [0], Move.do

    def refuse(move: Move, places: Places) -> None:
        calls[0] += 1
        if calls[0] == failing:
            raise OSError(code, os.strerror(code), str(places.root / move.directory))
        do(move, places)
        assert content(files) == OLD  # nobody sees a part

    monkeypatch.setattr(Move, "do", refuse)
    with pytest.raises(StorageError, match=r"partition 'a', 'b', 'c', … of .* can't be published: .*letter="):
        change_all(files)
    assert content(files) == OLD
    assert [p.directory for p in inventory(files)] == ["letter=a", "letter=b", "letter=c"]
    assert {p.name for p in Path(files.path).iterdir() if p.name.startswith("letter=")} == set(snapshot(files))
    monkeypatch.undo()
    change_all(files)
    assert content(files) == NEW


def test_readers_of_one_partition_see_the_old_while_it_is_made(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Any] = []
    do = Move.do

    def look(move: Move, places: Places) -> None:
        do(move, places)
        looks.append([files.exists(letter) for letter in "abcd"])
        a = files.get("a")
        assert a is not None
        looks.append((list(a.files), Path(str(a.folder)).is_dir()))

    monkeypatch.setattr(Move, "do", look)
    change_all(files)
    assert looks == 4 * [[True, True, True, False], (["old"], True)]


def test_a_reader_amid_the_moves_looks_again(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old content moves on right after a reader has found it."""
    kept, do, late = Move.kept, Move.do, list[Callable[[], None]]()

    def find(move: Move, places: Places) -> Path:
        folder = kept(move, places)
        if late:
            late.pop()()
        return folder

    def hold(move: Move, places: Places) -> None:
        if move.directory != "letter=a":
            do(move, places)
            return
        late.append(lambda: do(move, places))
        assert content(files) == OLD
        assert not late

    monkeypatch.setattr(Move, "kept", find)
    monkeypatch.setattr(Move, "do", hold)
    change_all(files)
    assert content(files)["a"] == ["new"]


def test_a_damaged_journal_is_named(files: Files) -> None:
    (aside(files) / COMMITS / f"{7:020}{journal._PENDING}").write_text("{")
    with pytest.raises(StorageError, match="is damaged"):
        content(files)
    with pytest.raises(StorageError, match=r"is damaged .* in the newest folder of .*replaced.* remove the file"):
        change_all(files)


@pytest.mark.parametrize("damage", [None, "", "0000000000", "x", '{"a": 1}', f"{1:020}"])
def test_eb5_what_numbers_commits_is_made_anew_from_what_they_have_left(files: Files, damage: str | None) -> None:
    """Whatever becomes of the file, the slow one does not replace what is newer, and the next one may write."""
    change_all(files)
    with Commit(files) as commit:
        commit.drop("d")
    slow = Commit(files)
    put(slow, "a", "slow")
    file = aside(files) / "last_commit"
    number = int(file.read_text())
    file.unlink()
    if damage is not None:
        file.write_text(damage)
    if damage == f"{1:020}":  # whole, but behind: this is seen once a partition says so
        with pytest.raises(ConflictError):
            change_all(files)
    with Commit(files) as commit:
        put(commit, "b", "newer")
        put(commit, "a", "newer", "append")
    assert int(file.read_text()) > number
    with pytest.raises(ConflictError, match=r"after try 1 .* had begun"), slow:
        pass
    with Commit(files) as commit:
        put(commit, "a", "newest")
    assert content(files) == {"a": ["newest"], "b": ["newer"]}


def test_eb5_who_waits_for_a_lock_that_is_removed_locks_that_of_the_others(tmp_path: Path) -> None:
    done = threading.Event()

    def wait() -> None:
        with locked(tmp_path):
            done.set()

    waiting = threading.Thread(target=wait)
    with ExitStack() as removed:
        removed.enter_context(locked(tmp_path))
        waiting.start()
        time.sleep(0.1)  # it opens the file that is removed now
        (tmp_path / "last_commit").unlink()
        with locked(tmp_path):
            removed.close()
            assert not done.wait(0.1)
    waiting.join()
    assert done.is_set()


@pytest.mark.parametrize("log", [False, True], ids=["record", "log"])
def test_eb5_what_another_release_wrote_is_not_read_as_if_it_were_ours(tmp_path: Path, log: bool) -> None:
    files = Files(str(tmp_path / "lake"), format="text", partition=LETTERS, log=str(tmp_path / "log") if log else None)
    append(files, Attempt("dag", "run", 1), "x")
    append(files, Attempt("dag", "run", 2), "y")
    records = list(tmp_path.rglob(f"log/{2:020}.json" if log else "_lake/partitions/**/*.json"))
    assert records
    for record in records:
        record.write_text(json.dumps({**json.loads(record.read_text()), "version": 99}))
    with pytest.raises(StorageError, match=r"has version 99; expected 1\. .* run one release everywhere"):
        content(files)


def test_eb16_a_damaged_journal_is_read_from_its_copy(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer dies between the moves; its journal is damaged then."""
    do, moved = Move.do, list[str]()

    def die(move: Move, places: Places) -> None:
        if len(moved) == 2:
            raise KeyboardInterrupt
        moved.append(move.directory)
        do(move, places)

    monkeypatch.setattr(Move, "do", die)
    with pytest.raises(KeyboardInterrupt):
        change_all(files)
    monkeypatch.undo()
    assert content(files) == OLD
    pending = next((aside(files) / COMMITS).glob("*.pending.json"))
    pending.write_text("{")
    assert content(files) == OLD
    change_all(files)
    assert content(files) == NEW


def test_a_damaged_schema_is_named(files: Files) -> None:
    (aside(files) / "schema.json").write_text("{")
    with pytest.raises(StorageError, match="say evolve=True"):
        change_all(files)
    assert content(files) == OLD


def test_an_older_try_is_refused(files: Files) -> None:
    with Commit(files, Attempt("dag", "run", 2)) as commit:
        put(commit, "a", "second")
    commit = Commit(files, Attempt("dag", "run", 1))
    put(commit, "a", "first")
    put(commit, "d", "first")
    with pytest.raises(ConflictError, match="the older try 1"), commit:
        pass
    assert content(files) == {**OLD, "a": ["second"]}
    assert not list((aside(files) / "staging").iterdir())


@pytest.fixture(params=[False, True], ids=["folders", "log"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    log = str(tmp_path / "log") if request.param else None
    return Files(str(tmp_path / "lake"), format="text", partition=LETTERS, log=log)


def append(files: Files, attempt: Attempt, text: str, mode: str = "append") -> None:
    with Commit(files, attempt) as commit:
        put(commit, "a", text, mode)


def texts(files: Files) -> list[str]:
    partition = files.get("a")
    assert partition is not None
    return sorted(Path(name).name.rpartition("-")[2] for name in partition.files)


def test_one_try_may_append_several_times(empty: Files) -> None:
    append(empty, Attempt("dag", "run", 1), "created", "create")
    append(empty, Attempt("dag", "run", 1), "one")
    append(empty, Attempt("dag", "run", 1), "two")
    assert texts(empty) == ["created", "one", "two"]


def test_a_try_makes_again_what_the_earlier_ones_of_its_run_appended(empty: Files) -> None:
    append(empty, Attempt("dag", "run", 1), "one")
    append(empty, Attempt("dag", "other", 1), "other")
    append(empty, Attempt("dag", "run", 2), "two")
    append(empty, Attempt("dag", "run", 10), "ten")
    assert texts(empty) == ["other", "ten"]


def test_an_older_try_appends_nothing_whoever_came_between(empty: Files) -> None:
    append(empty, Attempt("dag", "run", 2), "two")
    append(empty, Attempt("dag", "other", 1), "other")
    with pytest.raises(
        ConflictError, match="'a' holds what try 2 of the same run has appended; the older try 1 of run"
    ):
        append(empty, Attempt("dag", "run", 1), "one")
    assert texts(empty) == ["other", "two"]


def test_files_from_elsewhere_need_a_log(files: Files) -> None:
    commit = Commit(files)
    with pytest.raises(InvalidDefinitionError, match="expected log="):
        commit.add("d", "letter=a")


def test_a_dry_run_removes_nothing(files: Files) -> None:
    from datetime import UTC, datetime, timedelta

    change_all(files)
    later = datetime.now(UTC) + timedelta(days=8)
    plan = clean(files, now=later, dry_run=True)
    kinds = {Path(str(path)).relative_to(aside(files)).parts[0] for path in plan}
    assert kinds == {"commits", "replaced", "partitions"}
    assert all(Path(str(path)).exists() for path in plan)
    assert clean(files, now=later) == plan
    assert clean(files, now=later) == []
    assert content(files) == NEW


@pytest.mark.parametrize("answered", [True, False], ids=["it is looked up", "it stays unknown"])
@pytest.mark.parametrize("is_stored", [True, False])
def test_files_of_a_commit_whose_answer_was_lost_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_stored: bool, answered: bool
) -> None:
    files = Files(str(tmp_path / "lake"), format="text", partition=LETTERS, log=str(tmp_path / "log"))
    create = commit_log.create

    def lost(file: Any, data: bytes) -> None:
        if is_stored:
            create(file, data)
        if not answered:
            monkeypatch.setattr(commit_log, "read", silent)
        raise TimeoutError("no answer")

    def silent(file: Any) -> None:
        raise TimeoutError("no answer")

    monkeypatch.setattr(commit_log, "create", lost)
    error = nullcontext() if is_stored and answered else pytest.raises(UnknownOutcomeError, match="made or not")
    with error, Commit(files) as commit:
        put(commit, "a", "x")
    monkeypatch.undo()
    assert files.exists("a") == is_stored
    assert [Path(path).name for partition in files.list() for path in partition.paths] == ["x"] * is_stored
    clean(files, now=datetime.now(UTC) + timedelta(days=99))
    assert files.exists("a") == is_stored
    assert len([path for path in aside(files).rglob("x*") if path.is_file()]) == is_stored


@pytest.mark.parametrize("mode", ["create", "append", "overwrite"])
@pytest.mark.parametrize("removal", ["dropped", "all dropped", "truncated"])
def test_es10_what_is_dropped_in_a_commit_may_be_written_in_it(empty: Files, mode: str, removal: str) -> None:
    append(empty, Attempt("dag", "other", 1), "old")
    with Commit(empty) as commit:
        if removal == "truncated":
            commit.truncate("a")
        else:
            commit.drop(None if removal == "all dropped" else "a")
        put(commit, "a", "new", mode)
    assert texts(empty) == ["new"]


def test_es10_a_partition_is_written_once_in_a_commit(empty: Files) -> None:
    append(empty, Attempt("dag", "other", 1), "old")
    commit = Commit(empty)
    put(commit, "a", "new", "overwrite")
    for again in (lambda: put(commit, "a", "newer", "append"), lambda: commit.truncate("a")):
        with pytest.raises(StoredError, match=r"'a' was written by this commit before; expected all of its files"):
            again()
    commit.drop("a")
    commit.publish()
    assert not empty.exists("a")


@pytest.mark.parametrize("folder", ["replaced", "staging", "listings", "partitions", "commits"])
def test_ea11_a_link_in_the_bookkeeping_leads_to_nothing_that_is_removed(tmp_path: Path, folder: str) -> None:
    files = Files(str(tmp_path / "lake"), format="text", partition=LETTERS)
    append(files, Attempt("dag", "run", 1), "x")
    foreign_folder = tmp_path / "theirs" / "20200101T000000Z-x"
    foreign_folder.mkdir(parents=True)
    for name in ("precious", f"{1:020}.done.json"):
        (foreign_folder / name).write_text("")
        (foreign_folder.parent / name).write_text("")
    link = aside(files) / folder
    if link.exists():
        link.rename(aside(files) / "away")
    link.symlink_to(tmp_path / "theirs")
    assert clean(files, now=datetime.now(UTC) + timedelta(days=99)) == []
    assert len([path for path in (tmp_path / "theirs").rglob("*") if path.is_file()]) == 4
