"""One of several processes that write to a dataset at once. Started by test_concurrency.py.

``writer.py ROOT LETTER WRITER``: says that it has begun, waits for a line, publishes, and tells how it went.
"""

from __future__ import annotations

import sys

from airflow_partitions import PartitionBySequence
from airflow_partitions.core.errors import ConflictError
from airflow_partitions.storage import Files
from airflow_partitions.storage.commit.commit import Commit
from airflow_partitions.storage.metadata.attempt import Attempt

LETTERS = PartitionBySequence(list("abcdefgh"), name="letter")
FILES = 5


def main(root: str, letter: str, writer: str) -> None:
    files = Files(root, format="text", partition=LETTERS)
    commit = Commit(files, Attempt("dag", f"run {writer}", 1))
    folder = commit.stage(letter)
    for number in range(FILES):
        (folder / f"{writer}-{number}").write_text(writer)
    commit.put(letter, mode="overwrite")
    tell("begun")
    sys.stdin.readline()
    try:
        with commit:
            pass
    except ConflictError as error:
        tell(f"conflict {type(error).__name__}")
    else:
        tell("published")


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
