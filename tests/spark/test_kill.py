"""Whatever is killed, and whenever: readers see the old partition or the new one, and a re-run succeeds.

Each process that is killed waits at a known point of its job. Driver and spark-submit are real ones, and so is the
job of a task that is killed while it runs; the others run a stub.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from airflow_partitions.core.errors import ConflictError
from airflow_partitions.storage.commit.publish import publish
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.staged_files import StagedFiles, readable_files
from airflow_partitions.storage.scan.snapshot import snapshot
from airflow_partitions.storage.stores.open import open_staging
from airflow_partitions.storage.stores.staging import Staging
from tests.hunt import HUNT
from tests.storage.commit.publisher import check_nothing_left

pytestmark = pytest.mark.spark

HERE = Path(__file__).parent
DEADLINE = 180
JOB = ("started", "reading", "writing", "written", "reported")
#: Where a driver goes on alone: at all of these points, if the tests are to look far.
ALONE = JOB if HUNT > 1 else ("reading", "reported")
#: Seconds between two looks of a reader.
PAUSE = 0.02 if HUNT > 1 else 0.2
OLD, KILLED, NEW = 1, 2, 3


def wait(what: str, until: Callable[[], Any]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not until():
        assert time.monotonic() < deadline, f"not within {DEADLINE} s: {what}"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether *pid* is a process of these tests, not one that got the number of one that has ended."""
    try:
        return str(HERE).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


class Tasks:
    """Airflow's part: it starts tasks, and knows how they end."""

    def __init__(self, home: Path) -> None:
        self._server = subprocess.Popen(
            [sys.executable, str(HERE / "task.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False"},
        )

    def start(self, root: Path, number: int, job: str, point: str = "") -> int:
        return self._ask({"start": {"root": str(root), "number": number, "job": job, "point": point}})

    def wait(self, pid: int) -> int:
        return self._ask({"wait": pid})

    def end(self) -> None:
        self._server.communicate()

    def _ask(self, question: Any) -> int:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(f"{json.dumps(question)}\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())


@attrs.frozen
class Try:
    """A try that waits at a point of its job.

    :ivar task: process id of the Airflow task.
    """

    lake: Any
    job: str
    point: str
    task: int

    @property
    def root(self) -> Path:
        root: Path = self.lake.root
        return root

    @property
    def pids(self) -> dict[str, int]:
        """Process ids of what runs for it."""
        note = self.root / "driver"
        return {"task": self.task, **(json.loads(note.read_text()) if note.exists() else {})}

    @property
    def staging(self) -> Staging | None:
        folders = [folder for folder in (self.root / "_delays" / "staging").glob("*") if f"-{KILLED}-" in folder.name]
        return Staging(folders[0]) if folders else None

    def end(self) -> None:
        for pid in self.pids.values():
            if alive(pid):
                os.kill(pid, signal.SIGKILL)


class Reader(threading.Thread):
    """Reads the partition of each lake all the time, and remembers what it should not have seen."""

    def __init__(self, lakes: list[Any]) -> None:
        super().__init__()
        self.lakes = lakes
        self.stop = threading.Event()
        self.wrong: list[str] = []
        self.looks = 0

    def run(self) -> None:
        while not self.stop.is_set():
            for lake in self.lakes:
                try:
                    numbers = tries(lake)
                except Exception as error:  # noqa: BLE001 - told by the test
                    self.wrong.append(f"{lake.root.name}: {error!r}")
                else:
                    if numbers not in ([OLD] * 2, [NEW] * 2, [KILLED] * 2):
                        self.wrong.append(f"{lake.root.name}: {numbers}")
            self.looks += 1
            self.stop.wait(PAUSE)  # the others want to run too


def tries(lake: Any) -> list[int]:
    """Which tries wrote the rows of the partition. What is replaced between two looks is looked at again."""
    while True:
        (partition,) = snapshot(lake.delays).values()
        try:
            tables = [pq.read_table(path, partitioning=None) for path in partition.paths]
        except FileNotFoundError:
            continue
        assert sum(len(table) for table in tables) == partition.rows
        return [number for table in tables for number in table["try"].to_pylist()]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tasks]:
    processes = Tasks(tmp_path_factory.getbasetemp() / "airflow")
    yield processes
    processes.end()


@pytest.fixture
def kill(tasks: Tasks, lake: Any, tmp_path: Path) -> Iterator[Callable[..., list[Try]]]:
    """Starts a try for each point, kills one of its processes there, and runs it again."""
    readers: list[Reader] = []
    attempts: list[Try] = []

    def run(victim: str, points: dict[str, str]) -> list[Try]:
        lakes = {point: lake_of_try(lake, tmp_path / point) for point in points}
        reader = Reader(list(lakes.values()))
        readers.append(reader)
        reader.start()
        for point, job in points.items():
            attempts.append(Try(lakes[point], job, point, tasks.start(lakes[point].root, KILLED, job, point)))
        for one in attempts:
            reached = one.root / "reached"
            wait(f"{one.point}: {log_text(one.lake, KILLED)}", lambda reached=reached: reached.exists())  # type: ignore[misc]
            assert alive(one.pids[victim]), log_text(one.lake, KILLED)
            os.kill(one.pids[victim], signal.SIGKILL)
        for one in attempts:
            assert (tasks.wait(one.task) == -signal.SIGKILL) == (victim == "task"), log_text(one.lake, KILLED)
            is_published = one.point in ("exchanged", "published")
            assert tries(one.lake) == [KILLED if is_published else OLD] * 2, one.point
        again = [tasks.start(one.root, NEW, "stub") for one in attempts]
        for one, task in zip(attempts, again, strict=True):
            assert tasks.wait(task) == 0, log_text(one.lake, NEW)
            (one.root / "go").touch()
        for one in attempts:
            wait(f"nothing of {one.point} runs", lambda one=one: not any(map(alive, one.pids.values())))  # type: ignore[misc]
            assert tries(one.lake) == [NEW] * 2, one.point
        reader.stop.set()
        reader.join()
        assert reader.looks > 0
        assert not reader.wrong
        return attempts

    yield run
    for reader in readers:
        reader.stop.set()
        reader.join()
    for one in attempts:
        one.end()


def lake_of_try(lake: Any, root: Path) -> Any:
    """A lake of its own below *root*, where an earlier try has published, and a stub of spark-submit."""
    root.mkdir()
    (root / "flights").symlink_to(lake.root / "flights")
    stub = root / "stub"
    stub.write_text(f'#!/bin/sh\nPYTHONPATH={HERE.parents[1]} exec {sys.executable} {HERE / "stub.py"} "$@"\n')
    stub.chmod(0o755)
    own = type(lake)(root)
    attempt, key = Attempt("dag", "run", OLD), own.delays.partition.parse("2013-01-02|EWR")
    staging = open_staging(own.delays, attempt)
    staging.data.mkdir()
    pq.write_table(pa.table({"try": [OLD, OLD]}), staging.data / "part-0.parquet")
    publish(own.delays, key, attempt, staging, StagedFiles(2, readable_files(staging.data), {"try": "bigint"}))
    staging.remove()
    return own


def log_text(lake: Any, number: int) -> str:
    log = lake.root / f"{number}.log"
    return f"{lake.root.name}: {log.read_text()[-3000:] if log.exists() else 'nothing'}"


def check_nothing_comes_late(one: Try) -> None:
    """A late publication of what the killed try left is refused, and a clean-up clears it away."""
    delays = one.lake.delays
    if (staging := one.staging) is not None and staging.data.exists() and (files := readable_files(staging.data)):
        with pytest.raises(ConflictError, match=f"the older try {KILLED}"):
            publish(
                delays,
                delays.partition.parse("2013-01-02|EWR"),
                Attempt("dag", "run", KILLED),
                staging,
                StagedFiles(2, files, {}),
            )
    check_nothing_left(delays)


def test_drivers_are_killed(kill: Any) -> None:
    for one in kill("driver", dict.fromkeys(JOB, "spark")):
        check_nothing_comes_late(one)


def test_submit_processes_are_killed(kill: Any) -> None:
    for one in kill("submit", dict.fromkeys(ALONE, "spark")):
        check_nothing_comes_late(one)


def test_airflow_tasks_are_killed(kill: Any) -> None:
    points = {"reading": "spark", "writing": "spark", "publishing": "stub", "exchanged": "stub", "published": "stub"}
    tries = kill("task", points)
    assert {one.point for one in tries if one.staging and one.staging.result.exists()} >= {"reading", "writing"}
    for one in tries:
        check_nothing_comes_late(one)
