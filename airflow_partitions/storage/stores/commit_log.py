"""The log of a dataset's commits: one object for each, made once and never changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.errors import StorageError
from airflow_partitions.storage.filesystem.filesystem import at, create, names, read, write
from airflow_partitions.storage.filesystem.paths import beyond
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
class Leader:
    """The entry in another log that decides whether a commit of several datasets is made.

    :ivar folder: path of that log.
    :ivar number: of the entry.
    :ivar name: what the entry says if the commit is made.
    :ivar beside: relative path to that log, for when both were moved.
    """

    folder: str
    number: int
    name: str
    beside: str = ""


@attrs.frozen
class LogSnapshot:
    """What a log says at one moment.

    :ivar number: of the last commit.
    :ivar partitions: directory to what is stored there.
    :ivar schema: column to type, as far as the commits told.
    :ivar undecided: leaders that have said nothing yet.
    """

    number: int
    partitions: Partitions
    schema: Mapping[str, str]
    undecided: tuple[Leader, ...] = ()


@attrs.frozen
class LogEntry:
    """What is left to know of a commit.

    :ivar name: name of its object in the log.
    :ivar at: when it was made.
    :ivar removed: names of the files it replaced or dropped.
    :ivar summed_up: whether nobody needs it any more to know what is stored.
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
        """The commits that the log still has, but for those that were not made."""
        found = names(self.folder)
        summed = max((_number(name) for name in found if name.endswith(_WHOLE)), default=0)
        entries = []
        for name in filter(_is_entry, found):
            form = self.load(name)
            leader = _leader(form)
            if leader is None or self._decision(leader):
                needed = _number(name) > summed or "leads" in form
                entries.append(
                    LogEntry(name, datetime.fromisoformat(form["at"]), tuple(form["removed"]), checkpointed=not needed)
                )
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
        if state.number % CHECKPOINT_EVERY == 0 and not state.undecided:
            whole = {"version": 1, "partitions": state.partitions, "schema": state.schema}
            write(self.folder / f"{state.number:020}{_WHOLE}", _bytes(whole))

    def settle(self, leader: Leader, attempt: Attempt) -> None:
        """Decide that the commit of *leader* is not made, unless it is: its writer was killed, or is late."""
        nothing = {"changes": {}, "removed": [], "leads": ""}
        there = next((log for log in self._led_by(leader) if log.number()), self._log(leader.folder))
        there.add(leader.number, {**nothing, "schema": there.state().schema}, attempt)

    def _joined(self, start: int, summary: Mapping[str, Any], entries: list[dict[str, Any]]) -> LogSnapshot:
        partitions: Partitions = summary.get("partitions", {})
        schema, undecided = summary.get("schema", {}), []
        for entry in entries:
            leader = _leader(entry)
            made = leader is None or self._decision(leader)
            if made is None and leader is not None:
                undecided.append(leader)
            if made:
                merge(partitions, entry["changes"])
                schema = entry["schema"]
        return LogSnapshot(start + len(entries), partitions, schema, tuple(undecided))

    def _decision(self, leader: Leader) -> bool | None:
        """Whether the commit of *leader* is made; ``None`` if that is still open.

        :raises StorageError: if its log is gone.
        """
        name = f"{leader.number:020}{_ENTRY}"
        for there in self._led_by(leader):
            with suppress(FileNotFoundError):
                return bool(there.load(name).get("leads") == leader.name)
        if leader.number > 1 and not any(there.number() for there in self._led_by(leader)):
            raise StorageError(
                f"a commit of {self.root!r} with others is told by the manifest {leader.folder!r}, which is gone;"
                " restore it, or move the datasets of one commit together"
            )
        return None

    def _led_by(self, leader: Leader) -> Iterator[CommitLog]:
        """Where the log of *leader* may be: where it was then, or as far from here as it was then."""
        yield self._log(leader.folder)
        if leader.beside:
            yield self._log(beyond(str(self.folder), leader.beside))

    def _log(self, folder: str) -> CommitLog:
        return CommitLog(at(folder, getattr(self.folder, "storage_options", None)), folder)

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


def _leader(entry: Mapping[str, Any]) -> Leader | None:
    return Leader(**entry["leader"]) if entry.get("leader") else None


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
