"""A small document that several processes change in turn, on any file system that can make a file exclusively."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.filesystem.filesystem import ages, at, create, names, read, remove
from airflow_partitions.storage.filesystem.translate_errors import translate_errors

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

_VERSION = re.compile(r"(\d{20})\.json")
#: Once there are more versions than this, those are removed that are older than the slowest change could be.
_MANY = 32
_OLD = timedelta(hours=1)
#: A change that takes longer may have been made to a version that was removed meanwhile.
_LONGEST = timedelta(minutes=10)


@attrs.frozen
class VersionedDocument:
    """One document, kept as a folder of numbered versions of which the last one counts.

    A version is made exclusively: of two processes that change the same version, one is refused and changes the result
    of the other. A change is made whole or not at all.

    :ivar path: the folder.
    :ivar credentials: what its file system is made with.
    """

    path: str
    credentials: Mapping[str, Any] = attrs.field(factory=dict, repr=False)

    def read(self) -> str | None:
        """The document, ``None`` if there is none.

        :raises StorageError: if it can't be read.
        """
        with translate_errors(repr(self.path), "read"):
            return self._last(at(self.path, self.credentials))[1]

    def change(self, function: Callable[[str | None], str | None]) -> None:
        """Put what *function* makes of the document in its place; nothing is written if that is the same.

        :param function: called again if another process was quicker.
        :raises StorageError: if it can't be written; it stays as it was.
        """
        with translate_errors(repr(self.path), "written"):
            folder = at(self.path, self.credentials)
            while not self._changed(folder, function):
                time.sleep(random.uniform(0, 0.02))

    def _changed(self, folder: Location, function: Callable[[str | None], str | None]) -> bool:
        began = time.time()
        number, text = self._last(folder)
        changed = function(text)
        if changed is None or changed == text:
            return True
        folder.mkdir(parents=True, exist_ok=True)
        try:
            create(folder / _name(number + 1), changed.encode())
        except FileExistsError:
            return False
        if time.time() - began > _LONGEST.total_seconds():
            raise StorageError(f"{self.path!r} took longer than {_LONGEST} to write; it may or may not be changed")
        _tidy(folder, number)
        return True

    def _last(self, folder: Location) -> tuple[int, str | None]:
        """Number and text of the last version."""
        while numbers := _numbers(folder):
            data = read(folder / _name(numbers[-1]))
            if data is not None:  # else it was removed since, and there are later ones
                return numbers[-1], data.decode(errors="replace")
        return 0, None


def _name(number: int) -> str:
    return f"{number:020}.json"


def _numbers(folder: Location) -> list[int]:
    return [int(match[1]) for name in names(folder) if (match := _VERSION.fullmatch(name))]


def _tidy(folder: Location, last: int) -> None:
    """Remove old versions before the *last*."""
    if len(_numbers(folder)) > _MANY:
        limit = datetime.now(UTC) - _OLD
        for name, changed in ages(folder).items():
            if changed < limit and name < _name(last):
                remove(folder / name)
