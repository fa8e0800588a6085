"""Partitions on a local disk: a folder that is there is a partition that is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import ages, names, read, write
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.change import Change, superseded
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule
from airflow_partitions.storage.stores.folders import accepts, files_in, link, strip, walk
from airflow_partitions.storage.stores.foreign_folders import by_canonical_name, name_there
from airflow_partitions.storage.stores.journal import Journal, Move, Places, inode
from airflow_partitions.storage.stores.last_commit import LastCommit, locked
from airflow_partitions.storage.stores.leftovers import leftovers
from airflow_partitions.storage.stores.partition_records import RECORDS, PartitionRecords
from airflow_partitions.storage.stores.staging import STAGING, Staging, check_writable, claim
from airflow_partitions.storage.stores.store import Limits, Store, refuse_to_write

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.stores.store import Accept

#: Folder of replaced folders, in the bookkeeping of a dataset: each commit has a folder of its own in it.
REPLACED = "replaced"
STAMP = "%Y%m%dT%H%M%SZ"
_SCHEMA = "schema.json"


@attrs.frozen
class DirectoryStore(Store):
    """The partitions below a local folder.

    A commit of one partition is one exchange of folders. One of several is told in the :class:`.Journal` while it goes
    on. Neither flushes files to the disk, as Spark doesn't either: whatever is killed, readers see all of a commit or
    nothing of it, but after a power failure what was published in the last seconds may be lost or damaged.

    :ivar root: folder of the dataset.
    :ivar columns: names of the partition columns, in the order of the levels.
    :ivar read_only: whether they belong to someone else, and are only read.
    :ivar members: names of the tables in each partition, if there are any.
    :ivar bookkeeping: folder of what is kept about them.
    """

    in_folders = True

    root: Path
    columns: tuple[str, ...]
    read_only: bool = False
    members: tuple[str, ...] = ()
    bookkeeping: Path = attrs.field(init=False)

    @bookkeeping.default
    def _beside(self) -> Location:
        return bookkeeping(self.root)

    @property
    def places(self) -> Places:
        """The folders that a commit moves things between."""
        return Places(self.root, self.bookkeeping)

    @property
    def journal(self) -> Journal:
        """Commits that are under way."""
        return Journal(self.places)

    @property
    def records(self) -> PartitionRecords:
        """What the partitions say about themselves."""
        return PartitionRecords(self.bookkeeping / RECORDS)

    @property
    def _last(self) -> LastCommit:
        return LastCommit(self.bookkeeping, self._greatest)

    def version(self) -> int:
        return self._last.number()

    def listed(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> Mapping[str, PartitionFiles | None]:
        if directories is not None:  # a look at each: a listing of a folder may be of a million others
            moves = self.journal.pending()
            return dict.fromkeys(directory for directory in directories if self._has(directory, moves))
        while True:
            state = self.journal.state()
            stored = self._listed(self.journal.pending(), accept)
            if self.journal.state() == state:
                return dict.fromkeys(stored)

    def snapshot(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> dict[str, PartitionFiles]:
        while True:
            state, moves = self.journal.state(), self.journal.pending()
            try:
                selected = self._listed(moves, accept) if directories is None else directories
                contents = {directory: self._content(directory, moves.get(directory)) for directory in selected}
            except OSError:
                if self.journal.state() == state:
                    raise
                continue  # what was looked for has moved on
            if self.journal.state() == state:
                return {directory: content for directory, content in contents.items() if content is not None}

    def superseded(self, directory: str) -> list[PartitionFiles]:
        superseded = []
        for batch in names(self.bookkeeping / REPLACED):
            with suppress(FileNotFoundError):  # not of this partition, or cleaned up right now
                superseded.append(self._files_in(self.bookkeeping / REPLACED / batch / directory, directory))
        return superseded

    def recorded_schema(self) -> dict[str, str]:
        try:
            return dict(json.loads(read(self.bookkeeping / _SCHEMA) or "{}"))
        except ValueError as error:
            raise StorageError(
                f"{self.bookkeeping / _SCHEMA} is damaged ({error}); remove it, and say evolve=True"
            ) from error

    def check_writable(self) -> None:
        if self.read_only:
            refuse_to_write(self.root)

    def staging(self, attempt: Attempt, directory: str = "") -> Staging:
        check_writable(str(self.root))
        claim(self.place_of(attempt).folder, attempt)
        return self.place_of(attempt, directory, self.version())

    def place_of(self, attempt: Attempt, directory: str = "", base: int | None = None) -> Staging:
        return Staging(self.bookkeeping / STAGING / attempt.name, base=base)

    def _committed(
        self, changes: Sequence[Change], attempt: Attempt, base: int | None, rule: SchemaRule | None
    ) -> list[PartitionMetadata | None]:
        with locked(self.bookkeeping) as lock:
            self.journal.recover()
            stored = {change.directory: self._stored(change.directory) for change in changes}
            number = self._last.known(lock, max(map(_commit_of, stored.values()), default=0)) + 1
            for change in changes:
                content = stored[change.directory]
                metadata = None if content is None else content.metadata
                change.check(content is not None, metadata, attempt, base)
            before = self.recorded_schema()
            schema = before if rule is None else rule.after(before, changes)
            self._last.put(lock, number)
            old = f"{REPLACED}/{datetime.now(UTC).strftime(STAMP)}-{attempt.name}"
            published = [self._stage(change, number, attempt) for change in changes]
            moves = [self._planned(change, None if stored[change.directory] is None else old) for change in changes]
            self._move(moves, number)
            if schema != before:
                write(self.bookkeeping / _SCHEMA, json.dumps(schema).encode())
            return published

    def _described(self, directory: str, content: PartitionFiles, metadata: PartitionMetadata) -> bool:
        with locked(self.bookkeeping):
            self.journal.recover()
            stored = self._stored(directory)
            same = stored is not None and (stored.files, stored.metadata) == (content.files, content.metadata)
            if same:
                self.records.write(directory, self.root / directory, metadata)
            return same

    def _move(self, moves: Sequence[Move], number: int) -> None:
        """Make all of *moves*, or none."""
        for move in moves:
            move.prepare(self.places)
        if len(moves) == 1:
            moves[0].do(self.places)
            return
        self.journal.begin(number, moves)
        try:
            for move in moves:
                move.do(self.places)
        except OSError:
            self.journal.recover()
            raise
        self.journal.end(number)

    def recover(self) -> None:
        if self.journal.pending():
            with locked(self.bookkeeping):
                self.journal.recover()

    def expired(self, limits: Limits) -> list[Location]:
        folder, journal = self.bookkeeping / REPLACED, self.journal
        replaced = [name for name in names(folder) if _replaced_at(name) < limits.replaced]
        commits = [name for name, end in ages(journal.folder).items() if end < limits.replaced]
        return [
            *leftovers(self.bookkeeping, journal.folder, limits.staged),
            *(folder / name for name in replaced),
            *(journal.folder / name for name in commits if journal.removable(name)),
            *self._unused_records(replaced, limits),
        ]

    def _unused_records(self, replaced: Sequence[str], limits: Limits) -> list[Location]:
        """The old records of folders that are no more, once the folders *replaced* are not."""
        gone = set(replaced)
        paths = (name.partition("/") for name in ages(self.bookkeeping / REPLACED))
        kept = (path for batch, _, path in paths if batch not in gone)
        return list(self.records.unused(self.root, kept, limits.replaced))

    def _greatest(self) -> int:
        """A number that no commit has exceeded, by what they have left.

        What was dropped has no record; the folder of each commit that dropped is kept for as long as a writer may take.
        """
        replaced = names(self.bookkeeping / REPLACED)
        return max(self.records.last_commit(), self.journal.last_commit()) + len(replaced)

    def _has(self, directory: str, moves: Mapping[str, Move]) -> bool:
        move = moves.get(directory)
        return self._folder(directory).is_dir() if move is None else move.before is not None

    def _folder(self, directory: str) -> Path:
        """Where the partition in *directory* is while no commit is under way."""
        return self.root / (name_there(self.root, directory) if self.read_only else directory)

    def _listed(self, moves: Mapping[str, Move], accept: Accept | None) -> list[str]:
        present = list(walk(str(self.root), self.columns, accept))
        if self.read_only:
            present = list(by_canonical_name(str(self.root), present))
        if not moves:
            return present
        kept = {move.directory for move in moves.values() if move.before is not None}
        accepted = {directory for directory in kept if accept is None or accepts(directory, accept)}
        return sorted((set(present) - set(moves)) | accepted)

    def _content(self, directory: str, move: Move | None) -> PartitionFiles | None:
        """What is stored in *directory*, which a commit that is under way may *move*."""
        while True:
            folder = self._folder(directory) if move is None or move.before is None else move.kept(self.places)
            expected = inode(folder) if move is None else move.before
            if expected is None:
                return None
            try:
                files = self._files_in(folder, directory)
            except FileNotFoundError:  # it goes right now
                continue
            if inode(folder) == expected:
                return files

    def _stored(self, directory: str) -> PartitionFiles | None:
        """What is stored in *directory*, while no commit is under way."""
        try:
            return self._files_in(self.root / directory, directory)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _files_in(self, folder: Path, directory: str) -> PartitionFiles:
        return files_in(folder, directory, self.records, self.members)

    def _stage(self, change: Change, number: int, attempt: Attempt) -> PartitionMetadata | None:
        """Bring the new folder of *change* into its final form."""
        if change.metadata is None:
            return None
        folder = Path(str(change.folder))
        folder.mkdir(parents=True, exist_ok=True)
        strip(folder, self.members)
        metadata = attrs.evolve(change.metadata, commit=number)
        if change.mode == "append":
            metadata = self._join(change, folder, metadata, attempt)
        self.records.write(change.directory, folder, metadata)
        return metadata

    def _join(self, change: Change, folder: Path, metadata: PartitionMetadata, attempt: Attempt) -> PartitionMetadata:
        """Link the files that are stored into *folder*, beside the new ones: no data is copied."""
        for name in change.files:  # a name of their own: they may be called like stored ones
            (folder / name).rename(folder / _own_name(name, attempt))
        metadata = metadata.renamed({name: _own_name(name, attempt) for name in change.files})
        stored = self._stored(change.directory)
        if stored is None:
            return metadata
        kept = stored.files.keys() - superseded(stored.files, attempt, change.key)
        for name in kept:
            link(self.root / change.directory / name, folder / name)
        return metadata.joined(stored.metadata, kept, self._files_in(folder, change.directory).files)

    def _planned(self, change: Change, old: str | None) -> Move:
        staged = None if change.metadata is None else Path(str(change.folder)).relative_to(self.bookkeeping).as_posix()
        return Move.planned(self.places, change.directory, staged, old and f"{old}/{change.directory}")


def _commit_of(content: PartitionFiles | None) -> int:
    return 0 if content is None or content.metadata is None else content.metadata.commit


def _replaced_at(name: str) -> datetime:
    try:
        return datetime.strptime(name.partition("-")[0], STAMP).replace(tzinfo=UTC)
    except ValueError:  # not ours: never old
        return datetime.max.replace(tzinfo=UTC)


def _own_name(name: str, attempt: Attempt) -> str:
    """What a file that *attempt* appends is called, below the folder of its partition."""
    table, slash, file = name.rpartition("/")
    return f"{table}{slash}{attempt.name}-{file}"
