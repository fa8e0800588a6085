"""The log of commits and its checkpoints, beside a plain dictionary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.stores import commit_log, log_checkpoint
from airflow_partitions.storage.stores.commit_log import CommitLog

ATTEMPT = Attempt("dag", "run", 1)
LATER = datetime(2100, 1, 1, tzinfo=UTC)
DIRECTORIES = st.integers(0, 60).map(lambda number: f"n={number:02}") | st.sampled_from(["", "a\nb=1", "ö=\x00", "z"])
RECORDS = st.none() | st.fixed_dictionaries({"files": st.dictionaries(st.text(), st.integers(), max_size=3)})
CHANGES = st.dictionaries(DIRECTORIES, RECORDS, max_size=12)
STEPS = st.lists(st.tuples(CHANGES, st.booleans(), st.sampled_from(["", "", "", "lost", "late", "clean"])), max_size=25)


@contextmanager
def limits(**values: int) -> Iterator[None]:
    """Let checkpoints come soon, and parts be short."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setattr(commit_log if hasattr(commit_log, name) else log_checkpoint, name, value)
        yield


def commit(log: CommitLog, changes: Mapping[str, Any], schema: Mapping[str, str]) -> None:
    snapshot = log.snapshot(changes)
    entry = {"changes": changes, "removed": [], "schema": schema}
    assert log.add(snapshot.number + 1, entry, ATTEMPT)
    log.write_checkpoint(snapshot.after([entry]))


def clean(log: CommitLog) -> None:
    for entry in log.entries():
        if entry.checkpointed:
            (log.folder / entry.name).unlink()
    for name in log.superseded(LATER):
        (log.folder / name).unlink()


@settings(max_examples=150, deadline=None)
@given(
    STEPS,
    st.fixed_dictionaries(
        {
            "CHECKPOINT_EVERY": st.integers(1, 6),
            "_CHECKPOINT_CHANGES": st.integers(1, 40),
            "PART_BYTES": st.integers(1, 400),
            "_SHORT_PARTS": st.integers(0, 3),
        }
    ),
    st.sets(DIRECTORIES),
)
def test_the_log_says_what_was_committed(
    steps: list[tuple[dict[str, Any], bool, str]], values: dict[str, int], some: set[str]
) -> None:
    expected: dict[str, Any] = {}
    with TemporaryDirectory() as folder, limits(**values):
        log = CommitLog(Path(folder) / "log", folder)
        for number, (changes, grow, incident) in enumerate(steps, 1):
            before = log.snapshot(changes)
            entry = {"changes": changes, "removed": [], "schema": {str(number): "int"} if grow else {}}
            assert log.add(number, entry, ATTEMPT)
            assert not log.add(number, {**entry, "removed": ["another"]}, ATTEMPT)
            after = before.after([entry])
            if incident == "lost":  # killed before the object that names the parts is written
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(commit_log, "write", lambda file, data: 1 / 0)
                    with suppress(ZeroDivisionError):
                        log.write_checkpoint(after)
            else:
                log.write_checkpoint(after)
            if incident == "late":  # another writer makes the same checkpoint, a little later
                log.write_checkpoint(after)
            if incident == "clean":
                clean(log)
            for directory, record in changes.items():
                if record is None:
                    expected.pop(directory, None)
                else:
                    expected[directory] = record
            snapshot = log.snapshot()
            assert (snapshot.number, snapshot.schema) == (number, entry["schema"])
            assert list(snapshot.partitions.items()) == sorted(expected.items())
            assert log.snapshot(some).partitions == {d: r for d, r in expected.items() if d in some}
            accept = some.__contains__
            assert log.snapshot(accept=accept).partitions == log.snapshot(some).partitions
            check(log, snapshot.checkpoint.parts)
        clean(log)
        assert log.snapshot().partitions == expected
        kept = [f"parts/{part.name}" for part in log.snapshot().checkpoint.parts]
        assert sorted(path.relative_to(log.folder).as_posix() for path in log.folder.glob("parts/*")) == sorted(kept)


def check(log: CommitLog, parts: tuple[log_checkpoint.Part, ...]) -> None:
    """Parts follow one another, none is empty, and none is much too long."""
    last = None
    for part in parts:
        lines = part.lines(log.folder / "parts")
        directories, records = list(lines), lines.values()
        assert directories == sorted(set(directories))
        assert directories[0] == part.first
        assert last is None or last < part.first
        assert part.size == sum(map(len, records))
        assert part.size < log_checkpoint.PART_BYTES + max(map(len, records))
        last = directories[-1]


def numbered(count: int, **record: Any) -> dict[str, Any]:
    return {f"n={number:05}": {"files": {}, **record} for number in range(count)}


@contextmanager
def counted_reads() -> Iterator[list[str]]:
    """Names of the objects that are read meanwhile."""
    reads: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for module in (commit_log, log_checkpoint):
            read = module.read
            patch.setattr(module, "read", lambda file, read=read: reads.append(file.name) or read(file))
        yield reads


def test_one_partition_is_read_from_one_part(tmp_path: Path) -> None:
    log = CommitLog(tmp_path / "log", str(tmp_path))
    with limits(PART_BYTES=1000):
        commit(log, numbered(5000), {})
        commit(log, {"n=00000": None}, {})
        assert len(log.snapshot().checkpoint.parts) > 50
        with counted_reads() as reads:
            assert len(log.snapshot(["n=04321"]).partitions) == 1
        assert [name.partition(".")[2] for name in sorted(reads)[:2]] == ["checkpoint.json", "json"]
        assert len(reads) == 3  # the object that names the parts, the commit since, one part
        with counted_reads() as reads:
            assert log.snapshot([]).number == 2
        assert len(reads) == 2


def test_a_checkpoint_writes_what_has_changed(tmp_path: Path) -> None:
    log = CommitLog(tmp_path / "log", str(tmp_path))
    with limits(PART_BYTES=1000, CHECKPOINT_EVERY=1):
        commit(log, numbered(5000), {})
        before = set(log.snapshot().checkpoint.parts)
        commit(log, {"n=01000": {"files": []}, "n=01001": None, "n=04000": None}, {})
        after = set(log.snapshot().checkpoint.parts)
    assert len(before - after) == len(after - before) == 2


def test_parts_that_have_become_short_are_joined(tmp_path: Path) -> None:
    log = CommitLog(tmp_path / "log", str(tmp_path))
    with limits(PART_BYTES=1000, CHECKPOINT_EVERY=1):
        commit(log, numbered(5000), {})
        many = len(log.snapshot().checkpoint.parts)
        commit(log, {name: None for number, name in enumerate(numbered(5000)) if number % 50}, {})
        assert len(log.snapshot().checkpoint.parts) == many
        commit(log, {"n=00000": None}, {})
        assert len(log.snapshot().checkpoint.parts) < many / 10
        assert len(log.snapshot().partitions) == 99


def test_much_at_once_is_summed_up_at_once(tmp_path: Path) -> None:
    log = CommitLog(tmp_path / "log", str(tmp_path))
    commit(log, numbered(4095), {})
    assert log.snapshot([]).checkpoint.number == 0
    commit(log, numbered(4097, base=None), {})
    assert log.snapshot([]).checkpoint.number == 2


@pytest.mark.parametrize("damage", [b"", b"no gzip", b"\x1f\x8b\x08\x00\x00"])
def test_a_damaged_part_is_named(tmp_path: Path, damage: bytes) -> None:
    log = CommitLog(tmp_path / "log", str(tmp_path))
    commit(log, numbered(4096), {})
    part = log.snapshot([]).checkpoint.parts[0]
    (log.folder / "parts" / part.name).write_bytes(damage)
    with pytest.raises(StorageError, match=rf"{part.name} is damaged"):
        log.snapshot(["n=00000"])


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    log = CommitLog(tmp_path / "log", str(tmp_path))
    commit(log, numbered(4096), {})
    part = log.snapshot([]).checkpoint.parts[0]
    (log.folder / "parts" / part.name).unlink()
    with pytest.raises(StorageError, match=rf"has gaps: {part.name} is missing"):
        log.snapshot()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ("{", "is damaged"),
        ('{"version": 2}', "has version 2; expected 1"),
        ('{"version": 1}', "is damaged"),
        ('{"version": 1, "schema": {}, "parts": [1]}', "is damaged"),
    ],
)
def test_a_damaged_checkpoint_is_named(tmp_path: Path, damage: str, words: str) -> None:
    log = CommitLog(tmp_path / "log", str(tmp_path))
    commit(log, numbered(4096), {})
    (log.folder / f"{1:020}.checkpoint.json").write_text(damage)
    with pytest.raises(StorageError, match=rf"checkpoint.json {words}"):
        log.snapshot([])
