"""Checkpoint of a commit log: all partitions after one of its commits, sorted and in parts."""

from __future__ import annotations

import gzip
import json
import secrets
import zlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.filesystem.filesystem import read, write

if TYPE_CHECKING:
    from typing_extensions import Self

    from airflow_partitions.storage.filesystem.filesystem import Location

#: How long a part may become, in bytes before it is compressed: some two thousand partitions.
PART_BYTES = 2**20
#: So many parts that are not half full are let be.
_SHORT_PARTS = 8
THREADS = 8

Record = Mapping[str, Any]
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@attrs.frozen
class Part:
    """One stretch of the partitions: an object of its own, which never changes.

    Its lines are gzipped JSON: the first one lists the directories, in order; the others are their records.

    :ivar name: of the object.
    :ivar first: the first of its directories.
    :ivar size: of its records in bytes, before they are compressed.
    """

    name: str
    first: str
    size: int

    def lines(self, folder: Location) -> dict[str, bytes]:
        """Its directories, in order, and the record of each as JSON.

        :raises FileNotFoundError: if it is gone.
        :raises StorageError: if it is damaged.
        """
        data = read(folder / self.name)
        if data is None:
            raise FileNotFoundError(self.name)
        try:
            head, *records = gzip.decompress(data).split(b"\n")
            return dict(zip(json.loads(head), records, strict=True))
        except (OSError, EOFError, zlib.error, ValueError, TypeError) as error:
            raise StorageError(
                f"{folder / self.name} is damaged ({error!r}); expected part of a checkpoint: restore it from a backup"
            ) from error


@attrs.frozen
class LogCheckpoint:
    """What a log says after one of its commits, so that readers need not read all that led to it.

    The partitions are sorted by directory and cut into parts; a small object names the parts. Who asks for a few
    partitions reads the parts that these fall in. The next checkpoint keeps the parts in which nothing has changed, so
    that what a commit costs depends on how much it changes, not on how much is stored. Parts are written before the
    object that names them: of a writer that is killed in between, parts are left that nobody looks at.

    The parts hold JSON, as the entries of the log do: a record is parsed when somebody looks at it, and a driver needs
    no library to read them.

    :ivar number: of the commit; 0 is before the first.
    :ivar schema: column to type, as far as the commits told.
    :ivar parts: in the order of their directories.
    """

    number: int = 0
    schema: Mapping[str, str] = attrs.field(factory=dict)
    parts: tuple[Part, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """JSON form, read by :meth:`from_json`; the number is not in it."""
        return {"version": 1, "schema": self.schema, "parts": [attrs.astuple(part) for part in self.parts]}

    @classmethod
    def from_json(cls, number: int, form: Mapping[str, Any]) -> Self:
        """The checkpoint whose :meth:`to_json` is *form*."""
        return cls(number, form["schema"], tuple(Part(*fields) for fields in form["parts"]))

    def lines(
        self, folder: Location, directories: Iterable[str] | None, accept: Callable[[str], bool]
    ) -> dict[str, bytes]:
        """Directory to line of the *directories*, or of all, that *accept* wants; sorted if they are all.

        :param folder: where the parts are.
        :raises FileNotFoundError: if a part is gone.
        :raises StorageError: if one is damaged.
        """
        by_part: Mapping[int, Sequence[str] | None]
        if directories is None:
            by_part = dict.fromkeys(range(len(self.parts)))
        else:
            by_part = self._by_part(filter(accept, directories)) if self.parts else {}

        def select(position: int) -> dict[str, bytes]:
            lines, some = self.parts[position].lines(folder), by_part[position]
            return {name: lines[name] for name in (filter(accept, lines) if some is None else some) if name in lines}

        return {directory: line for part in _in_threads(select, by_part) for directory, line in part.items()}

    def after(
        self, folder: Location, number: int, changes: Mapping[str, Record | None], schema: Mapping[str, str]
    ) -> LogCheckpoint:
        """The checkpoint of a later commit, once the parts that it doesn't share with this one are written.

        :param number: of the commit.
        :param changes: directory to record of what has changed since; ``None`` where a partition was dropped.
        :param schema: after the commit.
        """
        least = -(-sum(part.size for part in self.parts) // PART_BYTES)
        if len(self.parts) > 2 * least + _SHORT_PARTS:  # much was dropped since the parts were cut
            return LogCheckpoint(number, schema, tuple(_written(folder, self.parts, changes)))
        by_part = self._by_part(changes)

        def write_part(position: int) -> list[Part]:
            part_changes = {directory: changes[directory] for directory in by_part[position]}
            return _written(folder, self.parts[position : position + 1], part_changes)

        anew = dict(zip(by_part, _in_threads(write_part, by_part), strict=True))
        parts = [anew.get(position, [part]) for position, part in enumerate(self.parts)] or list(anew.values())
        return LogCheckpoint(number, schema, tuple(part for some in parts for part in some))

    def _by_part(self, directories: Iterable[str]) -> dict[int, list[str]]:
        """Position to those of the *directories* that fall in the part there."""
        starts = [part.first for part in self.parts]
        by_part = defaultdict(list)
        for directory in directories:
            by_part[max(bisect_right(starts, directory) - 1, 0)].append(directory)
        return by_part


def line(record: Record) -> bytes:
    """The *record* as JSON."""
    return json.dumps(record, separators=(",", ":")).encode()


def _written(folder: Location, parts: Sequence[Part], changes: Mapping[str, Record | None]) -> list[Part]:
    """Write *parts* anew, with *changes*: as few as are not too long, all of about one length."""
    lines: dict[str, bytes] = {}
    for part in parts:
        lines |= part.lines(folder)
    for directory, record in changes.items():
        if record is None:
            lines.pop(directory, None)
        else:
            lines[directory] = line(record)
    total = sum(map(len, lines.values()))
    count = -(-total // PART_BYTES)
    cuts, length = [], 0
    for directory in sorted(lines):
        cuts.append((length * count // total, directory))
        length += len(lines[directory])
    pieces = [[directory for _, directory in piece] for _, piece in groupby(cuts, key=lambda cut: cut[0])]
    folder.mkdir(parents=True, exist_ok=True)
    return _in_threads(lambda piece: _write_part(folder, {name: lines[name] for name in piece}), pieces)


def _write_part(folder: Location, lines: Mapping[str, bytes]) -> Part:
    name = f"{secrets.token_hex(16)}.json.gz"
    write(folder / name, gzip.compress(b"\n".join([json.dumps(list(lines)).encode(), *lines.values()]), 1))
    return Part(name, next(iter(lines)), sum(map(len, lines.values())))


def _in_threads(function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    """What *function* returns for each of *items*; an object store takes a while for each."""
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(function, items))
