"""Several processes write to one dataset at once: counted, on both kinds of stores."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from airflow_partitions import PartitionBySequence
from airflow_partitions.storage import Files
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.scan.snapshot import inventory

WRITER = Path(__file__).parent.with_name("storage") / "commit" / "writer.py"
LETTERS = list("abcdefgh")


def dataset(root: str) -> Files:
    return Files(root, format="text", partition=PartitionBySequence(LETTERS, name="letter"))


def race(root: str, letters: list[str]) -> list[str]:
    """Outcomes of one writer for each of *letters*, all of which have begun before the first ends."""
    writers = [
        subprocess.Popen(
            [sys.executable, str(WRITER), root, letter, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number, letter in enumerate(letters)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "begun\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    outcomes = [writer.communicate()[0].strip() for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * len(writers)
    return outcomes


def names(files: Files) -> dict[str, list[str]]:
    return {str(p.key): [name.rpartition("/")[2] for name in p.files] for p in inventory(files)}


@pytest.mark.parametrize("before", ["nothing", "an older content"])
def test_4_writers_of_one_partition(root: str, before: str) -> None:
    files = dataset(root)
    if before != "nothing":
        with Commit(files) as commit:
            (commit.stage("a") / "old").write_text("old")
            commit.put("a")
    outcomes = race(root, ["a"] * 4)
    assert sorted(outcomes) == ["conflict ConflictError"] * 3 + ["published"]
    winner = outcomes.index("published")
    assert names(files) == {"a": [f"{winner}-{number}" for number in range(5)]}


def test_8_writers_of_different_partitions(root: str) -> None:
    files = dataset(root)
    assert race(root, LETTERS) == ["published"] * 8
    expected = {letter: [f"{w}-{number}" for number in range(5)] for w, letter in enumerate(LETTERS)}
    assert names(files) == expected
    assert len({partition.metadata["commit"] for partition in inventory(files)}) == 8
