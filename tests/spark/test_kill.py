"""Whatever is killed on the way, the newest try's data stands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_partitions.errors import ConflictError
from airflow_partitions.storage.attempt import Attempt
from airflow_partitions.storage.marker import read_marker
from airflow_partitions.storage.publishing import publish
from airflow_partitions.storage.staging import Staging
from airflow_partitions.storage.written import Written, data_files

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("airflow")]

TASK = str(Path(__file__).with_name("task.py"))
DEADLINE = 180


def wait(what: str, until: Callable[[], Any]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not until():
        assert time.monotonic() < deadline, f"not within {DEADLINE} s: {what}"
        time.sleep(0.1)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Orphan:
    """A try that will be orphaned: its task, its spark-submit, its Python driver."""

    def __init__(self, lake: Any, number: int, log: Path) -> None:
        self.number = number
        with log.open("wb") as file:
            command = [sys.executable, TASK, str(lake.root), str(number), "waiting"]
            self.task = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
        started = lake.root / f"started-{number}"
        wait(f"{started}; see {log}", lambda: started.exists() or self.task.poll() is not None)
        note = json.loads(started.read_text())
        self.driver, self.submit = note["driver"], note["submit"]
        self.staging = Staging(Path(note["staging"]))

    def end(self) -> None:
        for pid in (self.driver, self.submit, self.task.pid):
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        self.task.wait()


@pytest.fixture
def orphan(lake: Any, tmp_path: Path) -> Iterator[Callable[[int], Orphan]]:
    made: list[Orphan] = []

    def start(number: int) -> Orphan:
        made.append(Orphan(lake, number, tmp_path / f"{number}.log"))
        return made[-1]

    yield start
    for one in made:
        one.end()


def make(lake: Any, number: int) -> None:
    run = subprocess.run(
        [sys.executable, TASK, str(lake.root), str(number), "plain"],
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "'rows': 1" in run.stdout


def check_newest_stands(lake: Any, orphan: Orphan, newest: int) -> None:
    """Readers see the newest try, and a late publication of the orphan's files is refused."""
    key = lake.delays.partition.parse("2013-01-02|EWR")
    assert lake.rows() == [{"made": "whole"}]
    marker = read_marker(Path(lake.delays.path_of(key)))
    assert marker is not None
    assert marker.attempt.number == newest
    assert data_files(orphan.staging.data)
    written = Written(1, data_files(orphan.staging.data), {})
    with pytest.raises(ConflictError, match=f"the older try {orphan.number}"):
        publish(lake.delays, key, Attempt("dag", "run", orphan.number), orphan.staging, written)
    assert lake.rows() == [{"made": "whole"}]


def test_orphans_change_nothing(lake: Any, orphan: Callable[[int], Orphan]) -> None:
    submit_killed, task_killed = orphan(1), orphan(2)
    os.kill(submit_killed.submit, signal.SIGKILL)
    assert submit_killed.task.wait(DEADLINE) != 0
    task_killed.task.kill()
    task_killed.task.wait()
    make(lake, 3)
    assert alive(submit_killed.driver)
    assert alive(task_killed.driver)
    assert alive(task_killed.submit)

    (lake.root / "go").touch()
    wait("the driver without its submit process ends", lambda: not alive(submit_killed.driver))
    check_newest_stands(lake, submit_killed, 3)
    wait("the job without its task ends", lambda: not alive(task_killed.driver) and not alive(task_killed.submit))
    assert task_killed.staging.result.exists()
    check_newest_stands(lake, task_killed, 3)
