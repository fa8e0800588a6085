from __future__ import annotations

import threading
from pathlib import Path

import pytest

from airflow_partitions.storage.filesystem import exchange


@pytest.fixture(params=["kernel", "two renames"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "two renames":
        monkeypatch.setattr(exchange, "_libc_renameat2", lambda: None)
    return str(request.param)


def folder(path: Path, text: str) -> Path:
    path.mkdir()
    (path / text).write_text(text)
    return path


def test_replace_keeps_the_old(tmp_path: Path, way: str) -> None:
    new, target, old = folder(tmp_path / "new", "2"), folder(tmp_path / "target", "1"), tmp_path / "old"
    assert exchange.replace(new, target, old) == (way == "kernel")
    assert (target / "2").exists()
    assert (old / "1").exists()
    assert not new.exists()


def test_move_never_overwrites(tmp_path: Path, way: str) -> None:
    source, target = folder(tmp_path / "a", "1"), folder(tmp_path / "b", "2")
    with pytest.raises(FileExistsError):
        exchange.move(source, target)
    assert (source / "1").exists()
    assert (target / "2").exists()


def test_missing_paths_are_errors(tmp_path: Path, way: str) -> None:
    with pytest.raises(FileNotFoundError):
        exchange.replace(tmp_path / "new", tmp_path / "target", tmp_path / "old")


def test_two_renames_roll_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "_libc_renameat2", lambda: None)
    target = folder(tmp_path / "target", "1")
    with pytest.raises(FileNotFoundError):
        exchange.replace(tmp_path / "missing", target, tmp_path / "old")
    assert (target / "1").exists()


def test_a_file_system_without_exchange_falls_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(*_: object) -> int:
        import ctypes
        import errno

        ctypes.set_errno(errno.EINVAL)
        return -1

    monkeypatch.setattr(exchange, "_libc_renameat2", lambda: unable)
    new, target = folder(tmp_path / "new", "2"), folder(tmp_path / "target", "1")
    assert not exchange.replace(new, target, tmp_path / "old")
    assert (target / "2").exists()


def test_readers_never_see_a_gap(tmp_path: Path) -> None:
    one, other = folder(tmp_path / "one", "1"), folder(tmp_path / "other", "2")
    stop, gaps = threading.Event(), []

    def poll() -> None:
        while not stop.is_set():
            if not one.exists():
                gaps.append(1)

    reader = threading.Thread(target=poll)
    reader.start()
    for _ in range(3000):
        assert exchange.exchange(other, one)
    stop.set()
    reader.join()
    assert not gaps
