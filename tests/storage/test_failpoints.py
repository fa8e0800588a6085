"""Whenever a publisher is killed, readers see all of a commit or nothing, and what it left can be cleared away."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions.storage import Files
from airflow_partitions.storage.cleaning import clean
from airflow_partitions.storage.filesystem import at, sizes
from airflow_partitions.storage.inventory import StoredPartition, snapshot
from airflow_partitions.storage.tables import snapshot_tables

_spec = importlib.util.spec_from_file_location("dying", Path(__file__).with_name("dying.py"))
assert _spec is not None
assert _spec.loader is not None
dying: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(dying)

KILLED = -9
#: What a dataset has beside its partitions.
OWN = {"_publish.lock", "_schema.json"}


class Publisher:
    """A process that is killed again and again."""

    def __init__(self, root: str) -> None:
        command = [sys.executable, str(Path(dying.__file__)), root]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, scenario: str, generation: int, failpoint: int) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{scenario} {generation} {failpoint}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def end(self) -> None:
        self._process.communicate()
        assert self._process.returncode == 0


class Reader(threading.Thread):
    """Looks at the dataset all the time, and remembers what it should not have seen."""

    def __init__(self, files: Files) -> None:
        super().__init__()
        self.files = files
        self.stop = threading.Event()
        self.wrong: list[str] = []
        self.looks = 0

    def run(self) -> None:
        while not self.stop.is_set():
            try:
                self.wrong += problems(snapshot(self.files))
            except Exception as error:  # noqa: BLE001 - told by the test
                self.wrong.append(repr(error))
            self.looks += 1
            self.stop.wait(0.002)  # the others want to run too


def generations(partition: StoredPartition) -> set[int]:
    return {int(name.rpartition("/")[2].rpartition("-")[0].rpartition("-")[2]) for name in partition.files}


def problems(found: Any) -> list[str]:
    """What is wrong with *found*: partitions that are missing, partial, or not of the commit of the others."""
    by_letter = {partition.values["letter"]: partition for partition in found.values()}
    wrong = []
    for letter, partition in by_letter.items():
        if len(partition.files) != len(dying.NAMES) * len(generations(partition)):
            wrong.append(f"{letter} is partial: {sorted(partition.files)}")
        elif letter != "e" and len(generations(partition)) != 1:
            wrong.append(f"{letter} is mixed: {sorted(partition.files)}")
    if "b" not in by_letter:
        return wrong if "a" in by_letter else [*wrong, "a is missing"]
    now = max(generations(by_letter["b"]))
    if sorted(by_letter) not in (["a", "b", "c", "e"], ["a", "b", "d", "e"]):
        wrong.append(f"of {now}: {sorted(by_letter)}")
    for letter, partition in by_letter.items():
        if max(generations(partition)) != now:
            wrong.append(f"{letter} is of {max(generations(partition))}, not {now}")
    return wrong


@pytest.fixture
def reader() -> Iterator[list[Reader]]:
    made: list[Reader] = []
    yield made
    for one in made:
        one.stop.set()
        one.join()


def survive(root: str, scenario: str, generation: int, readers: list[Reader]) -> int:
    """Kill the scenario at each of its calls, once; between, let it run to its end.

    :return: how often it was killed.
    """
    files, publisher = dying.dataset(root), Publisher(root)
    one = Reader(files)
    readers.append(one)
    one.start()
    failpoint, outcome = 0, KILLED
    while outcome == KILLED:
        failpoint += 1
        outcome = publisher.run(scenario, generation, failpoint)
        assert not problems(snapshot(files)), f"after failpoint {failpoint}"
        generation += 1
        assert publisher.run(scenario, generation, 0) == 0, f"the run after failpoint {failpoint}"
        assert not problems(snapshot(files)), f"after the run after failpoint {failpoint}"
        if scenario != "tidy":
            assert max(generations(next(iter(snapshot(files).values())))) == generation
        generation += 1
    assert outcome == 0
    publisher.end()
    one.stop.set()
    one.join()
    assert one.looks > 0
    assert not one.wrong
    return failpoint - 1


def check_nothing_left(files: Files) -> None:
    """After a clean-up there are the partitions' files and the dataset's own."""
    clean(files, now=datetime.now(UTC) + timedelta(days=8))
    wanted = {path.removeprefix(f"{files.path}/") for p in snapshot(files).values() for path in p.paths}
    markers = {f"{directory}/_partition.json" for directory in snapshot(files)}
    assert {n for n in sizes(at(files.path)) if not n.startswith("_manifest/")} - OWN - markers == wanted
    folder = at(files.path)
    if isinstance(folder, Path):
        assert not [p for p in folder.rglob("*") if p.is_dir() and not any(p.iterdir()) and p.name[0] != "_"]


def test_150_failpoints(tmp_path: Path, reader: list[Reader]) -> None:
    killed = {}
    for way in ("folders", "manifest"):
        for scenario in ("single", "several", "tidy"):
            root = str(tmp_path / f"{way}-{scenario}")
            files = dying.dataset(root)
            if scenario == "single":
                dying.single(files, 0)
            else:
                dying.start(files, 0)
            if scenario == "tidy":
                for generation in (1, 2):
                    dying.several(files, generation)
            killed[way, scenario] = survive(root, scenario, 3, reader)
            check_nothing_left(files)
    assert sum(killed.values()) >= 150, killed


@pytest.mark.parametrize("way", ["folders", "manifest"])
def test_failpoints_of_several_tables(tmp_path: Path, way: str) -> None:
    root = str(tmp_path / way)
    files = dying.dataset(root)
    dying.tables(files, 0)
    both, stop, wrong, looks = [files, dying.items(files)], threading.Event(), [], []

    def seen() -> set[int]:
        return {g for table in snapshot_tables(both) for partition in table.values() for g in generations(partition)}

    def look() -> None:
        while not stop.is_set():
            found = seen()
            looks.append(found)
            if len(found) != 1:
                wrong.append(found)
            stop.wait(0.002)

    reader, publisher = threading.Thread(target=look), Publisher(root)
    reader.start()
    generation, outcome, failpoint = 0, KILLED, 0
    while outcome == KILLED:
        failpoint += 1
        outcome = publisher.run("tables", generation + 1, failpoint)
        assert len(seen()) == 1, f"after failpoint {failpoint}"
        generation += 2
        assert publisher.run("tables", generation, 0) == 0
        assert seen() == {generation}
    publisher.end()
    stop.set()
    reader.join()
    assert outcome == 0
    assert failpoint > 40
    assert looks
    assert not wrong
    for table in both:
        check_nothing_left(table)
