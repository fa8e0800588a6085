"""The log of a dataset's commits: one object for each, made once and never changed."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import StorageError, UnknownOutcomeError
from airflow_partitions.storage.filesystem.filesystem import ages, create, names, read, write
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.stores.lazy_mapping import LazyMapping
from airflow_partitions.storage.stores.log_checkpoint import THREADS, LogCheckpoint, Record, line

if TYPE_CHECKING:
    from typing_extensions import Self

    from airflow_partitions.storage.filesystem.filesystem import Location

_VERSION = 1
_ENTRY, _CHECKPOINT = ".json", ".checkpoint.json"
#: Folder of the parts of checkpoints, below that of the log.
_PARTS = "parts"
#: There is a checkpoint after this many commits, or sooner after as many changes as one reads quickly.
CHECKPOINT_EVERY = 20
_CHECKPOINT_CHANGES = 4096
#: How often the log is listed again when it changes while it is read.
_REPEATS = 10

Changes = Mapping[str, Record | None]


@attrs.frozen
class LogSnapshot:
    """What a log says at one moment.

    :ivar checkpoint: the last one.
    :ivar number: of the last commit.
    :ivar schema: column to type, as far as the commits told.
    :ivar changes: directory to record of what has changed since the checkpoint; ``None`` where a partition was dropped.
    :ivar partitions: directory to record, of those that were asked for.
    """

    checkpoint: LogCheckpoint
    number: int
    schema: Mapping[str, str]
    changes: Changes
    partitions: Mapping[str, Record]

    @classmethod
    def of(cls, checkpoint: LogCheckpoint) -> Self:
        """The moment of a *checkpoint*; nobody has asked for a partition yet."""
        return cls(checkpoint, checkpoint.number, checkpoint.schema, {}, {})

    def after(self, entries: Sequence[Mapping[str, Any]]) -> LogSnapshot:
        """The moment after the commits of *entries* were made to this one."""
        changes = dict(self.changes)
        for entry in entries:
            changes |= entry["changes"]
        schema = entries[-1]["schema"] if entries else self.schema
        return attrs.evolve(self, number=self.number + len(entries), schema=schema, changes=changes)


@attrs.frozen
class LogEntry:
    """What is left to know of a commit.

    :ivar name: name of its object in the log.
    :ivar at: when it was made.
    :ivar removed: names of the files it replaced or dropped.
    :ivar checkpointed: whether a checkpoint covers it, so that it may be removed.
    """

    name: str
    at: datetime
    removed: tuple[str, ...]
    checkpointed: bool


@attrs.frozen
class CommitLog:
    """A log of commits, below a folder.

    Of two writers that try for one number at once, one gets it.

    :ivar folder: where it is.
    :ivar root: path of the dataset.
    """

    folder: Location
    root: str

    def number(self) -> int:
        """Number of the last commit."""
        return max((_number(name) for name in names(self.folder)), default=0)

    def snapshot(
        self, directories: Iterable[str] | None = None, accept: Callable[[str], bool] = lambda _: True
    ) -> LogSnapshot:
        """What the log says now, with those partitions in *directories*, or of all, that *accept* wants.

        :raises StorageError: if it is damaged.
        """
        directories = None if directories is None else list(directories)
        gap = None
        for _ in range(_REPEATS):
            objects = names(self.folder)  # a bucket that is missing is no gap
            try:
                return self._snapshot(objects, directories, accept)
            except FileNotFoundError as error:  # removed while it was looked for: a newer checkpoint covers it
                gap = error
        # What is missing may have replaced or dropped anything.
        raise StorageError(
            f"the log of {self.root!r} has gaps: {gap} is missing; restore it in {str(self.folder)!r}"
        ) from gap

    def entries(self) -> list[LogEntry]:
        """The commits that the log still has."""
        objects = names(self.folder)
        covered = _number(_newest_checkpoint(objects) or "")
        entries = []
        for name in filter(_is_entry, objects):
            form = self.load(name)
            at = datetime.fromisoformat(form["at"])
            entries.append(LogEntry(name, at, tuple(form["removed"]), checkpointed=_number(name) <= covered))
        return entries

    def add(self, number: int, entry: Mapping[str, Any], attempt: Attempt) -> bool:
        """Take *number* for this entry, unless another writer has it.

        :raises UnknownOutcomeError: if the store has not answered, so that it may have been taken all the same.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        data = _bytes({"version": _VERSION, "at": now, "attempt": attempt.to_json(), **entry})
        file = self.folder / _name(number)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            create(file, data)
        except FileExistsError:
            # Ours, if the answer to an earlier request was lost on the way and the request was repeated.
            return read(file) == data
        except Exception as error:
            if not _may_be_made(error):
                raise
            if not self._is_made(file, data):
                raise UnknownOutcomeError(
                    f"commit {number} of {self.root!r} may have been made or not ({error!r}); nothing was removed:"
                    " look at what is stored, and try again"
                ) from error
        return True

    def _is_made(self, file: Location, data: bytes) -> bool:
        try:
            return read(file) == data
        except Exception as error:
            if not _may_be_made(error):
                raise
            return False

    def write_checkpoint(self, snapshot: LogSnapshot) -> None:
        """Write a checkpoint of *snapshot*, if there is much to read since the last one."""
        since = snapshot.number - snapshot.checkpoint.number
        if since >= CHECKPOINT_EVERY or len(snapshot.changes) >= _CHECKPOINT_CHANGES:
            checkpoint = snapshot.checkpoint.after(
                self.folder / _PARTS, snapshot.number, snapshot.changes, snapshot.schema
            )
            write(self.folder / f"{snapshot.number:020}{_CHECKPOINT}", _bytes(checkpoint.to_json()))

    def superseded(self, before: datetime) -> list[str]:
        """Names of the checkpoints that were followed by others *before*, then of parts that belong to no others.

        A part may be new to a checkpoint that is written right now, or old and kept by it: what was not superseded long
        ago is not told.
        """
        changed = ages(self.folder)
        checkpoints = [name for name in changed if _is_checkpoint(name)]
        old = [name for name, next_one in pairwise(checkpoints) if changed[next_one] < before]
        kept = {part.name for name in checkpoints if name not in old for part in self._checkpoint(name).parts}
        parts = {name: name.removeprefix(f"{_PARTS}/") for name in changed if name.startswith(f"{_PARTS}/")}
        return old + [name for name, part in parts.items() if part not in kept and changed[name] < before]

    def _snapshot(
        self, objects: Sequence[str], directories: Sequence[str] | None, accept: Callable[[str], bool]
    ) -> LogSnapshot:
        newest = _newest_checkpoint(objects)
        snapshot = LogSnapshot.of(LogCheckpoint() if newest is None else self._checkpoint(newest))
        recent = [name for name in objects if _is_entry(name) and _number(name) > snapshot.number]
        for number, name in enumerate(recent, snapshot.number + 1):
            if _number(name) != number:
                raise FileNotFoundError(_name(number))
        with ThreadPoolExecutor(THREADS) as threads:  # of an object store each takes a while
            snapshot = snapshot.after(list(threads.map(self.load, recent)))
        lines = snapshot.checkpoint.lines(self.folder / _PARTS, directories, accept)
        changed = snapshot.changes.keys() if directories is None else snapshot.changes.keys() & set(directories)
        for directory in filter(accept, changed):
            if (record := snapshot.changes[directory]) is None:
                lines.pop(directory, None)
            else:
                lines[directory] = line(record)
        ordered = sorted(lines) if directories is None else directories
        lines = {directory: lines[directory] for directory in ordered if directory in lines}
        return attrs.evolve(snapshot, partitions=LazyMapping(lines, json.loads))

    def _checkpoint(self, name: str) -> LogCheckpoint:
        try:
            return LogCheckpoint.from_json(_number(name), self.load(name))
        except (KeyError, TypeError) as error:
            raise self._damaged(name, error) from error

    def load(self, name: str) -> dict[str, Any]:
        """The object *name* of the log.

        :raises FileNotFoundError: if there is none.
        :raises StorageError: if it is damaged.
        """
        data = read(self.folder / name)
        if data is None:
            raise FileNotFoundError(name)
        try:
            form = json.loads(data)
            version = form["version"]
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(name, error) from error
        if version != _VERSION:
            raise StorageError(
                f"{self.folder / name} has version {version!r}; expected {_VERSION}. Another release of"
                " airflow-partitions wrote it: run one release everywhere"
            )
        return dict(form)

    def _damaged(self, name: str, error: Exception) -> StorageError:
        return StorageError(
            f"{self.folder / name} is damaged ({error!r}); expected an entry of a log: restore it from a"
            " backup, what it says is known nowhere else"
        )


def _may_be_made(error: Exception) -> bool:
    """Whether a request that ended in *error* may have been carried out: its answer was lost, or the store broke down.

    A refusal is an error of its own kind or has a number; who could not even connect has changed nothing.
    """
    botocore = sys.modules.get("botocore.exceptions")
    if botocore is not None and isinstance(error, botocore.BotoCoreError):
        return isinstance(error, botocore.HTTPClientError) and not isinstance(error, botocore.ConnectionError)
    if isinstance(error, ConnectionRefusedError | FileNotFoundError | PermissionError):
        return False
    return isinstance(error, OSError) and (
        isinstance(error, ConnectionError | TimeoutError) or error.errno in (None, errno.EIO)
    )


def _is_checkpoint(name: str) -> bool:
    return name.endswith(_CHECKPOINT) and not name.startswith(".")


def _is_entry(name: str) -> bool:
    return name.endswith(_ENTRY) and not name.endswith(_CHECKPOINT) and not name.startswith(".")


def _newest_checkpoint(objects: Iterable[str]) -> str | None:
    return max(filter(_is_checkpoint, objects), default=None)


def _name(number: int) -> str:
    return f"{number:020}{_ENTRY}"


def _number(name: str) -> int:
    digits = name.partition(".")[0]
    return int(digits) if digits.isdigit() else 0


def _bytes(form: Any) -> bytes:
    return json.dumps(form, separators=(",", ":")).encode()
