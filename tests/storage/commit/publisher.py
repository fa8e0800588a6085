"""A publisher that is killed again and again, and what its readers may not see meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from airflow_partitions.storage import Files
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, names, sizes
from airflow_partitions.storage.maintenance.cleanup import clean
from airflow_partitions.storage.scan.snapshot import snapshot
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from tests.storage.commit import dying

KILLED = -9
#: What the bookkeeping of a dataset has beside its partitions.
OWN = {"last_commit", "schema.json", "cleaned"}


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
            self.stop.wait(0.1 if self.files.path.startswith("s3:") else 0.002)  # the others want to run too


def generations(partition: StoredPartition) -> set[int]:
    return {int(name.rpartition("/")[2].rpartition("-")[0].rpartition("-")[2]) for name in partition.files}


def problems(partitions: Any) -> list[str]:
    """What is wrong with *found*: partitions that are missing, partial, or not of the commit of the others."""
    by_letter = {partition.values["letter"]: partition for partition in partitions.values()}
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


class Killed(Protocol):
    """A publisher that can be killed."""

    def run(self, scenario: str, generation: int, failpoint: int) -> int: ...

    def end(self) -> None: ...


def survive(root: str, scenario: str, publisher: Killed, readers: list[Reader], *, step: int = 1) -> int:
    """Kill the scenario at each of its calls, once; between, let it run to its end.

    :param step: at each so many of its calls only.
    :param readers: here the one who looks on is left, to be stopped.
    :return: how often it was killed.
    """
    files = dying.dataset(root)
    if scenario == "single":
        dying.single(files, 0)
    else:
        dying.start(files, 0)
    one = Reader(files)
    readers.append(one)
    one.start()
    failpoint, killed, outcome, generation = 1, -1, KILLED, 3
    while outcome == KILLED:
        if scenario == "tidy":  # what there is to clear away
            dying.several(files, generation)
        outcome = publisher.run(scenario, generation, failpoint)
        killed += 1
        assert not problems(snapshot(files)), f"after failpoint {failpoint}"
        generation += 1
        assert publisher.run(scenario, generation, 0) == 0, f"the run after failpoint {failpoint}"
        assert not problems(snapshot(files)), f"after the run after failpoint {failpoint}"
        if scenario != "tidy":
            assert max(generations(next(iter(snapshot(files).values())))) == generation
        generation += 1
        failpoint += step
    assert outcome == 0
    publisher.end()
    one.stop.set()
    one.join()
    assert one.looks > 0
    assert not one.wrong
    check_nothing_left(files)
    return killed


def check_nothing_left(files: Files) -> None:
    """After a clean-up there are the partitions' files and the dataset's own."""
    clean(files, now=datetime.now(UTC) + timedelta(days=8))
    root = at(files.path)
    aside = bookkeeping(root)
    paths = {path for partition in snapshot(files).values() for path in partition.paths}
    assert paths >= {f"{files.path}/{name}" for name, size in sizes(root).items() if size}
    unused = {name for name in sizes(aside) if not name.startswith("log/") and f"{aside}/{name}" not in paths} - OWN
    if files.log is None and isinstance(root, Path):
        check_records(root, unused)
    else:
        assert not unused
    check_log(files)
    if isinstance(root, Path):
        folders = [*root.rglob("*"), *(aside / "data").rglob("*")]
        assert not [p for p in folders if p.is_dir() and not any(p.iterdir())]


def check_records(root: Path, names: set[str]) -> None:
    """Each folder of a partition tells its record, and these are all of the files *left* in the bookkeeping."""
    pointers = [path for path in root.rglob("_*") if path.is_file()]
    records = {(path.parent.relative_to(root).as_posix(), path.name.removeprefix("_record-")) for path in pointers}
    assert names == {f"partitions/{directory}/{record}.json" for directory, record in records}
    assert not any(path.stat().st_size for path in pointers)


def check_log(files: Files) -> None:
    """After a clean-up the log has a checkpoint, if there was one, its parts and what came since."""
    folder = bookkeeping(at(files.path)) / "log"
    newest = max((name for name in names(folder) if name.endswith(".checkpoint.json")), default=None)
    kept = {f"parts/{part[0]}" for part in json.loads((folder / newest).read_text())["parts"]} if newest else set()
    changes = set(sizes(folder)) - {newest}
    assert {name for name in changes if name.startswith("parts/")} == kept
    assert all(name.endswith(".json") and name > (newest or "") for name in changes - kept), changes
