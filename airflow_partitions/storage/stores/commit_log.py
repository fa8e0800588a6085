"""The log of a dataset's commits: one object for each, made once and never changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.errors import StorageError
from airflow_partitions.storage.filesystem.filesystem import create, names, read, write
from airflow_partitions.storage.metadata.attempt import Attempt

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

_ENTRY, _WHOLE = ".json", ".whole.json"
#: A summary of the whole log is written after this many commits: a reader reads it and what came since.
CHECKPOINT_EVERY = 20
#: How often the log is listed again when it changes while it is read.
_REPEATS = 10
_THREADS = 8

Partitions = dict[str, dict[str, Any]]


@attrs.frozen
class LogSnapshot:
    """What a log says at one moment.

    :ivar number: of the last commit.
    :ivar partitions: directory to what is stored there.
    :ivar schema: column to type, as far as the commits told.
    """

    number: int
    partitions: Partitions
    schema: Mapping[str, str]


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

    def state(self) -> LogSnapshot:
        """All that the log says now.

        :raises StorageError: if it is damaged.
        """
        for _ in range(_REPEATS):
            found = names(self.folder)
            whole = max((name for name in found if name.endswith(_WHOLE)), default=None)
            start = 0 if whole is None else _number(whole)
            wanted = [name for name in found if _is_entry(name) and _number(name) > start]
            try:
                summary = {} if whole is None else self.load(whole)
                if not _complete(wanted, start):
                    continue  # some came, or were summed up and removed, while they were listed
                with ThreadPoolExecutor(_THREADS) as threads:  # of an object store each takes a while
                    entries = list(threads.map(self.load, wanted))
            except FileNotFoundError:
                continue
            return self._joined(start, summary, entries)
        # What is missing may have replaced or dropped anything.
        raise StorageError(
            f"the manifest of {self.root!r} has gaps: {', '.join(wanted[:3])}, …; restore what is missing in"
            f" {str(self.folder)!r}"
        )

    def entries(self) -> list[LogEntry]:
        """The commits that the log still has."""
        found = names(self.folder)
        summed = max((_number(name) for name in found if name.endswith(_WHOLE)), default=0)
        entries = []
        for name in filter(_is_entry, found):
            form, covered = self.load(name), _number(name) <= summed
            entries.append(LogEntry(name, datetime.fromisoformat(form["at"]), tuple(form["removed"]), covered))
        return entries

    def add(self, number: int, entry: Mapping[str, Any], attempt: Attempt) -> bool:
        """Take *number* for this entry, unless another writer has it."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        data = _bytes({"version": 1, "at": now, "attempt": attempt.to_json(), **entry})
        file = self.folder / f"{number:020}{_ENTRY}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            create(file, data)
        except FileExistsError:
            # Ours, if the answer to an earlier request was lost on the way and the request was repeated.
            return read(file) == data
        return True

    def write_checkpoint(self, state: LogSnapshot) -> None:
        """Write down the whole *state*, now and then, so that readers need not read all that led to it."""
        if state.number % CHECKPOINT_EVERY == 0:
            whole = {"version": 1, "partitions": state.partitions, "schema": state.schema}
            write(self.folder / f"{state.number:020}{_WHOLE}", _bytes(whole))

    def _joined(self, start: int, summary: Mapping[str, Any], entries: list[dict[str, Any]]) -> LogSnapshot:
        partitions: Partitions = summary.get("partitions", {})
        schema = summary.get("schema", {})
        for entry in entries:
            merge(partitions, entry["changes"])
            schema = entry["schema"]
        return LogSnapshot(start + len(entries), partitions, schema)

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
            if form["version"] != 1:
                raise ValueError(f"version {form['version']!r}")  # noqa: TRY301 - told like other damage
            return dict(form)
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"{self.folder / name} is damaged ({error!r}); expected an entry of a manifest: restore it from a"
                " backup, what it says is known nowhere else"
            ) from error


def merge(partitions: Partitions, changes: Mapping[str, Any]) -> None:
    """Make *changes* to *partitions*."""
    for directory, record in changes.items():
        if record is None:
            partitions.pop(directory, None)
        else:
            partitions[directory] = record


def _is_entry(name: str) -> bool:
    return name.endswith(_ENTRY) and not name.endswith(_WHOLE) and not name.startswith(".")


def _complete(entries: list[str], start: int) -> bool:
    """Whether *entries* are the commits after *start*, without a gap."""
    return [_number(name) for name in entries] == list(range(start + 1, start + 1 + len(entries)))


def _number(name: str) -> int:
    digits = name.partition(".")[0]
    return int(digits) if digits.isdigit() else 0


def _bytes(form: Any) -> bytes:
    return json.dumps(form, separators=(",", ":")).encode()
