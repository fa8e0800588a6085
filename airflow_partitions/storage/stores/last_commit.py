"""The number of the last commit of a dataset in folders, in the file that publishers lock."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import attrs

from airflow_partitions.storage.filesystem.filesystem import read

#: In the bookkeeping of a dataset: held by who publishes, with the number of the last commit in it.
LAST_COMMIT = "last_commit"
_DIGITS = 20


@attrs.frozen
class LastCommit:
    """The number of the last commit, which tells who was there first: each is greater than all before it.

    :ivar bookkeeping: of the dataset.
    :ivar recount: gives a number that is not less than that of any commit. It is asked for if the file is missing or
        damaged.
    """

    bookkeeping: Path
    recount: Callable[[], int]

    def number(self) -> int:
        """The number; 0 before the first commit."""
        number = self._kept()
        if number is None:
            if not self.bookkeeping.exists():
                return 0
            with locked(self.bookkeeping) as lock:
                number = self.known(lock)
        return number

    def known(self, lock: int, at_least: int = 0) -> int:
        """The number, for who holds the *lock*.

        :param at_least: a number that a commit has had: the file is behind if it holds less, and is mended.
        """
        number = self._kept()
        if number is None or number < at_least:
            number = max(self.recount(), at_least)
            self.put(lock, number)
        return number

    def put(self, lock: int, number: int) -> None:
        """Make *number* that of the last commit, for who holds the *lock*."""
        os.pwrite(lock, f"{number:0{_DIGITS}}".encode(), 0)
        os.truncate(lock, _DIGITS)

    def _kept(self) -> int | None:
        """What the file says, if it is whole."""
        text = read(self.bookkeeping / LAST_COMMIT) or b""
        return int(text) if len(text) == _DIGITS and text.isdigit() else None


@contextmanager
def locked(bookkeeping: Path) -> Iterator[int]:
    """Hold the lock of a dataset: check and exchange belong together. It ends with the process, however that ends."""
    lock = None
    while lock is None:
        lock = _locked(bookkeeping / LAST_COMMIT)
    try:
        yield lock
    finally:
        os.close(lock)


def _locked(file: Path) -> int | None:
    """The locked *file*, unless somebody has removed it meanwhile: others would lock another one."""
    lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock), file.stat()):
                return lock
    except BaseException:
        os.close(lock)
        raise
    os.close(lock)
    return None
