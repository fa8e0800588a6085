"""A publisher that is killed at a chosen call to the file system. Started by publisher.py.

It reads lines ``scenario generation failpoint`` and answers each with the outcome of a process forked for it, so that
everything is imported once. The forked process kills itself, as ``kill -9`` would, before the call of the number asked
for that could change anything.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs

from airflow_partitions import PartitionBySequence
from airflow_partitions.storage import Files
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.commit.publish import publish
from airflow_partitions.storage.filesystem import exchange
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.maintenance.cleanup import clean
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.stores import commit_log, log_checkpoint
from airflow_partitions.storage.stores.open import open_staging

LETTERS = PartitionBySequence(["a", "b", "c", "d", "e"], name="letter")
NAMES = ("x", "y", "z")

#: Functions of the operating system that change something, or could be the last before a change.
CALLS = {"open", "mkdir", "rename", "replace", "link", "unlink", "rmdir", "pwrite", "write", "close", "flock"}


def dataset(root: str) -> Files:
    """A dataset that its folders tell, or a log, with or without tables, by the name of its own."""
    return Files(
        root,
        format="text",
        partition=LETTERS,
        log=str(bookkeeping(Path(root)) / "log") if "log" in root else None,
        tables=("core", "extra") if "tables" in root else (),
    )


def single(files: Files, generation: int) -> None:
    """What the Airflow task does around a stub of a job: one partition."""
    attempt, key = Attempt("dag", "run", generation), LETTERS.parse("a")
    staging = open_staging(files, attempt, files.layout.directory_of(key))
    fill(staging.data, generation)
    staged_files = StagedFiles(len(NAMES), {f"{generation}-{name}": len(f"{generation}") for name in NAMES}, {})
    publish(files, key, attempt, staging, staged_files)
    staging.remove()


def several(files: Files, generation: int) -> None:
    """All that a commit can do: overwrite two, add to one, make one and drop the one made before."""
    created, dropped = ("d", "c") if files.exists("c") else ("c", "d")
    with Commit(files, Attempt("dag", "run", generation)) as commit:
        for letter, mode in (("a", "overwrite"), ("b", "overwrite"), ("e", "append"), (created, "create")):
            fill(commit.stage(letter), generation)
            commit.put(letter, mode=mode, rows=2)
        commit.drop(dropped)


def start(files: Files, generation: int) -> None:
    """What there is before the first of several."""
    with Commit(files) as commit:
        for letter in ("a", "b", "e", "c"):
            fill(commit.stage(letter), generation)
            commit.put(letter, mode="overwrite", rows=2)


def tidy(files: Files, generation: int) -> None:
    """A clean-up, long after."""
    clean(files, now=datetime.now(UTC) + timedelta(days=8))


def fill(folder: Any, generation: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (folder / f"{generation}-{name}").write_text(str(generation))


def tables(files: Files, generation: int) -> None:
    """Two tables, two partitions each."""
    with Commit(files, Attempt("dag", "run", generation)) as commit:
        for letter in ("a", "b"):
            for table in files.members:
                fill(commit.stage(letter, table), generation)
            commit.put(letter, mode="overwrite")


def index(files: Files, generation: int) -> None:
    """The index of what is stored without it."""
    attrs.evolve(files, schema={"value": "string"}, index=("value",)).build_index()


SCENARIOS: dict[str, Callable[[Files, int], None]] = {
    "single": single,
    "several": several,
    "tidy": tidy,
    "tables": tables,
    "index": index,
}


class Failpoint:
    """Kills this process before its call number *number*; 0 never does."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.count = 0

    def __call__(self) -> None:
        self.count += 1
        if self.count == self.number:
            os.kill(os.getpid(), signal.SIGKILL)

    def arm(self) -> None:
        """Count from now on."""
        renameat2 = exchange._renameat2

        def counted(*arguments: Any) -> bool:
            self()
            return renameat2(*arguments)

        exchange._renameat2 = counted
        sys.setprofile(self._profile)

    def _profile(self, frame: Any, event: str, function: Any) -> None:
        if event == "c_call" and function.__name__ in CALLS and _of_system(function):
            self()


def _of_system(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    return "posix" in (function.__module__, getattr(owner, "__name__", "")) or type(owner).__module__ in (
        "_io",
        "fcntl",
    )


def checkpoint_often(patch: Callable[[object, str, int], None]) -> None:
    """Let logs have checkpoints after every other commit, of several parts."""
    patch(commit_log, "CHECKPOINT_EVERY", 2)
    patch(log_checkpoint, "PART_BYTES", 1000)


def main(root: str) -> None:
    checkpoint_often(setattr)
    files = dataset(root)
    for line in sys.stdin:
        scenario, generation, failpoint = line.split()
        child = os.fork()
        if not child:
            point = Failpoint(int(failpoint))
            point.arm()
            SCENARIOS[scenario](files, int(generation))
            sys.setprofile(None)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        outcome = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        sys.stdout.write(f"{outcome}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
