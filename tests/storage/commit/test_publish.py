from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.core.errors import ConflictError, ResultError, StorageError
from airflow_partitions.storage import Parquet
from airflow_partitions.storage.commit.publish import publish
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.maintenance.cleanup import clean
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.stores.directory_store import REPLACED
from airflow_partitions.storage.stores.open import open_staging
from airflow_partitions.storage.stores.partition_records import RECORDS
from airflow_partitions.storage.stores.staging import STAGING, Staging, check_writable

AIRPORTS = PartitionBySequence(["EWR", "JFK"], name="airport")
EWR, JFK = AIRPORTS.keys()
RUN = "run"


@pytest.fixture
def storage(tmp_path: Path) -> Parquet:
    return Parquet(str(tmp_path / "lake"), partition=AIRPORTS)


def attempt(number: int, run: str = RUN) -> Attempt:
    return Attempt("dag", run, number)


def stage(storage: Parquet, who: Attempt, *names: str) -> tuple[Staging, StagedFiles]:
    staging = open_staging(storage.path, who)
    staging.data.mkdir()
    for name in names:
        (staging.data / name).write_text(name)
    return staging, StagedFiles(len(names), {name: len(name) for name in names}, {})


def put(storage: Parquet, who: Attempt, *names: str) -> PartitionMetadata:
    return publish(storage, EWR, who, *stage(storage, who, *names))


def files(storage: Parquet) -> list[str]:
    return sorted(p.name for p in Path(storage.path_of(EWR)).iterdir() if p.name[0] not in "_.")


def aside(storage: Parquet) -> Path:
    return Path(str(bookkeeping(Path(storage.path))))


def record(storage: Parquet) -> Path:
    (path,) = (aside(storage) / RECORDS).rglob("*.json")
    return path


def test_first_publication(storage: Parquet) -> None:
    metadata = put(storage, attempt(1), "a", "b")
    assert files(storage) == ["a", "b"]
    partition = storage.get(EWR)
    assert partition is not None
    assert partition.content.metadata == metadata
    assert (metadata.key, metadata.rows, metadata.files, metadata.bytes) == ("EWR", 2, 2, 2)
    assert not storage.exists(JFK)


def test_a_rerun_replaces_exactly_its_own_partition(storage: Parquet) -> None:
    who = attempt(1, "other run")
    publish(storage, JFK, who, *stage(storage, who, "j"))
    put(storage, attempt(1), "a", "b")
    put(storage, attempt(2), "c")
    assert files(storage) == ["c"]
    assert (Path(storage.path_of(JFK)) / "j").exists()
    replaced = [p.name for p in (aside(storage) / REPLACED).rglob("*") if p.is_file() and p.stat().st_size]
    assert sorted(replaced) == ["a", "b"]


def test_an_older_try_never_publishes_over_a_newer_one(storage: Parquet) -> None:
    old = attempt(1)
    staged = stage(storage, old, "old")
    put(storage, attempt(2), "new")
    with pytest.raises(ConflictError, match=r"try 2 of run 'run' of 'dag' published at .* the older try 1"):
        publish(storage, EWR, old, *staged)
    assert files(storage) == ["new"]


def test_another_run_may_replace(storage: Parquet) -> None:
    put(storage, attempt(5), "a")
    put(storage, attempt(1, "later run"), "b")
    assert files(storage) == ["b"]


@pytest.mark.parametrize("change", ["missing", "extra", "other size", "nothing written", "no folder"])
def test_files_that_are_not_those_written_are_refused(storage: Parquet, change: str) -> None:
    put(storage, attempt(1), "old")
    staging, staged_files = stage(storage, attempt(2), "a")
    match change:
        case "missing":
            (staging.data / "a").unlink()
        case "extra":
            (staging.data / "b").write_text("b")
        case "other size":
            (staging.data / "a").write_text("aa")
        case "nothing written":
            staged_files = StagedFiles(0, {}, {})
        case "no folder":
            staging.data.rename(staging.folder / "elsewhere")
    with pytest.raises(ResultError):
        publish(storage, EWR, attempt(2), staging, staged_files)
    assert files(storage) == ["old"]


def test_a_broken_marker_is_named(storage: Parquet) -> None:
    put(storage, attempt(1), "a")
    record(storage).write_text("{}")
    with pytest.raises(StorageError, match="is not a partition's metadata"):
        put(storage, attempt(2), "b")
    assert files(storage) == ["a"]


def test_partitions_of_others_have_no_marker(storage: Parquet) -> None:
    Path(storage.path_of(EWR)).mkdir(parents=True)
    partition = storage.get(EWR)
    assert partition is not None
    assert partition.metadata == {}


def test_partitions_whose_record_is_lost_are_like_those_of_others(storage: Parquet) -> None:
    put(storage, attempt(1), "a")
    record(storage).unlink()
    partition = storage.get(EWR)
    assert partition is not None
    assert partition.metadata == {}
    assert list(partition.files) == ["a"]
    put(storage, attempt(2), "b")
    assert files(storage) == ["b"]


def test_concurrent_publishers_of_one_partition(storage: Parquet) -> None:
    check_writable(storage.path)
    staged = {n: stage(storage, attempt(n), f"{n}-a", f"{n}-b") for n in range(1, 9)}
    outcomes: dict[int, str] = {}
    barrier = threading.Barrier(len(staged))

    def go(number: int) -> None:
        barrier.wait()
        try:
            publish(storage, EWR, attempt(number), *staged[number])
            outcomes[number] = "published"
        except ConflictError:
            outcomes[number] = "conflict"

    threads = [threading.Thread(target=go, args=(n,)) for n in staged]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes[8] == "published"
    assert files(storage) == ["8-a", "8-b"]
    assert set(outcomes) == set(staged)


def test_readers_see_old_or_new_never_a_gap_never_a_mix(storage: Parquet) -> None:
    put(storage, attempt(1), "1-a", "1-b")
    stop, numbers, bad = threading.Event(), set(), []

    def poll() -> None:
        folder = storage.path_of(EWR)
        while not stop.is_set():
            try:
                handle = os.open(folder, os.O_DIRECTORY)
            except FileNotFoundError:
                bad.append("gap")
                continue
            names = sorted(n for n in os.listdir(handle) if n[0] not in "_.")  # noqa: PTH208
            os.close(handle)
            number = names[0].split("-")[0] if names else "none"
            numbers.add(number)
            if names != [f"{number}-a", f"{number}-b"]:
                bad.append(str(names))

    reader = threading.Thread(target=poll)
    reader.start()
    for number in range(2, 200):
        put(storage, attempt(number), f"{number}-a", f"{number}-b")
    stop.set()
    reader.join()
    assert not bad
    assert len(numbers) > 1


def test_a_killed_publisher_leaves_no_lock(storage: Parquet, tmp_path: Path) -> None:
    check_writable(storage.path)
    code = (
        "import sys, time; from pathlib import Path; from airflow_partitions.storage.stores import last_commit as p\n"
        "with p.locked(Path(sys.argv[1])):\n    print('locked', flush=True)\n    time.sleep(60)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(aside(storage))], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == "locked\n"
        child.kill()
        child.wait()
    put(storage, attempt(1), "a")
    assert files(storage) == ["a"]


def test_a_try_runs_once(storage: Parquet) -> None:
    who = attempt(1)
    open_staging(storage.path, who)
    with pytest.raises(ConflictError, match="is in use"):
        open_staging(storage.path, who)
    open_staging(storage.path, attempt(1))


def test_en9_the_root_is_made_but_not_its_parent(tmp_path: Path) -> None:
    assert check_writable(str(tmp_path / "lake")).is_dir()
    with pytest.raises(StorageError, match=r"parent folder .* is missing; make it \(mkdir -p '.*/no here'\), or"):
        check_writable(str(tmp_path / "no here" / "lake"))


def test_unwritable_roots_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="can't be written"):
        check_writable(str(tmp_path / "file"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(StorageError, match="by this user"):
        check_writable(str(tmp_path / "lake"))


def folders(place: Callable[[], Path]) -> list[str]:
    return sorted(p.name for p in place().iterdir()) if place().is_dir() else []


def test_cleaning_keeps_what_is_young(storage: Parquet) -> None:
    put(storage, attempt(1), "a")
    put(storage, attempt(2), "b")
    assert clean(storage.path) == []
    later = datetime.now(UTC) + timedelta(hours=25)
    removed, its_record = clean(storage.path, now=later)
    assert removed.parent.name == REPLACED
    assert its_record == aside(storage) / RECORDS / "airport=EWR" / its_record.name
    assert len(folders(lambda: aside(storage) / STAGING)) == 2
    clean(storage.path, now=later + timedelta(days=7))
    assert folders(lambda: aside(storage) / STAGING) == []
    assert files(storage) == ["b"]


def test_cleaning_leaves_other_files_alone(storage: Parquet) -> None:
    put(storage, attempt(1), "a")
    (aside(storage) / REPLACED / "mine").mkdir(parents=True)
    assert clean(storage.path, now=datetime.now(UTC) + timedelta(hours=100)) == []


def test_cleaning_goes_on_while_others_clear_away_what_is_theirs(storage: Parquet) -> None:
    put(storage, attempt(1), "a")
    ended, rounds = threading.Event(), list[int]()
    interval = sys.getswitchinterval()

    def others() -> None:
        while not ended.is_set():
            staging, _ = stage(storage, attempt(len(rounds) + 2))
            draft = aside(storage) / ".word.tmp"
            draft.touch()
            draft.unlink()
            staging.remove()
            rounds.append(1)

    other = threading.Thread(target=others)
    sys.setswitchinterval(1e-5)
    try:
        other.start()
        for _ in range(300):
            assert clean(storage.path) == []
    finally:
        ended.set()
        other.join()
        sys.setswitchinterval(interval)
    assert rounds
    assert files(storage) == ["a"]


def test_marker_is_json_for_everyone(storage: Parquet) -> None:
    put(storage, attempt(3), "a")
    form = json.loads(record(storage).read_text())
    assert form["attempt"]["number"] == 3
    assert form["version"] == 1
