"""Partitions where files can't be renamed: a log of commits says which files are theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import ConflictError, StorageError
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.change import Change, superseded
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.stores.commit_log import CommitLog, LogSnapshot
from airflow_partitions.storage.stores.folders import accepts
from airflow_partitions.storage.stores.lazy_mapping import LazyMapping
from airflow_partitions.storage.stores.leftovers import leftovers
from airflow_partitions.storage.stores.staging import DATA, STAGING, Staging, check_writable, claim
from airflow_partitions.storage.stores.store import Limits, Store
from airflow_partitions.storage.stores.unused_files import unused_files

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.stores.listed_store import ListedStore
    from airflow_partitions.storage.stores.store import Accept

#: Folder of the log, in the bookkeeping of a dataset.
LOG = "log"
#: How often a commit tries for the next number, while others are taking it.
_TRIES = 100


@attrs.frozen
class LogStore(Store):
    """The partitions of a dataset, by a log of its commits.

    Every commit is one object, named by its number and made only if there is none of this name: of two writers one gets
    the number, the other looks at what has changed and tries for the next, or gives up. Files are written under names
    of their own and never renamed or changed; readers look for those that the log names.

    :ivar folder: where the log is.
    :ivar root: path of the dataset.
    :ivar folders: the folders that are there. They are the partitions until the first commit.
    :ivar ownership: what becomes of these.
    :ivar location: the root, as it is reached.
    """

    folder: Location
    root: str
    folders: ListedStore | None = None
    ownership: Ownership = Ownership.OWNED
    location: Location = attrs.field(kw_only=True)

    @cached_property
    def bookkeeping(self) -> Location:
        """Where everything is that is written: the files of partitions, too."""
        return bookkeeping(self.location)

    @cached_property
    def _places(self) -> tuple[str, str, str]:
        """The folder that both dataset and bookkeeping lie in, and the names of the bookkeeping and of the dataset."""
        own = self.bookkeeping
        return str(own.parent).rstrip("/"), f"{own.name}/", f"{own.name.removeprefix('_')}/"

    @property
    def log(self) -> CommitLog:
        """The log of its commits."""
        return CommitLog(self.folder, self.root)

    def version(self) -> int:
        return self.log.number()

    def snapshot(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> Mapping[str, PartitionFiles]:
        log = self.log.snapshot(directories, lambda directory: accept is None or accepts(directory, accept))
        if not log.number and self.folders is not None:
            return self.folders.snapshot(directories, accept)
        return LazyMapping(log.partitions, self._placed)

    def recorded_schema(self) -> Mapping[str, str]:
        return self.log.snapshot([]).schema

    def kept(self, contents: Mapping[str, PartitionFiles]) -> dict[str, PartitionFiles]:
        return dict(contents)  # files stay where they are until they are cleaned up

    def staging(self, attempt: Attempt, directory: str = "") -> Staging:
        if isinstance(self.location, Path):
            check_writable(self.root)
        claim(self.place_of(attempt).folder, attempt)
        return self.place_of(attempt, directory, self.version())

    def place_of(self, attempt: Attempt, directory: str = "", base: int | None = None) -> Staging:
        files = self.bookkeeping / DATA / attempt.name
        return Staging(self.bookkeeping / STAGING / attempt.name, files / directory if directory else files, base)

    def expired(self, limits: Limits) -> list[Location]:
        return [
            *leftovers(self.bookkeeping, self.folder, limits.staged),
            *unused_files(self.log, self.location, self.bookkeeping, limits),
        ]

    def _committed(
        self, changes: Sequence[Change], attempt: Attempt, base: int | None, rule: SchemaRule | None
    ) -> list[PartitionMetadata | None]:
        for _ in range(_TRIES):
            state = self._begun(attempt, [change.directory for change in changes])
            records, removed = self._entry(changes, state, attempt, base)
            schema = state.schema if rule is None else rule.after(state.schema, changes)
            if self._add(state, {"changes": records, "removed": removed, "schema": schema}, attempt):
                return [_metadata_of(records[change.directory]) for change in changes]
        raise self._late()

    def _described(self, directory: str, content: PartitionFiles, metadata: PartitionMetadata) -> bool:
        for _ in range(_TRIES):
            state = self._begun(metadata.attempt, [directory])
            if (record := state.partitions.get(directory)) is None:
                return False
            stored, placed = self._content(record), self._placed(record)
            if (placed.sizes, placed.metadata) != (content.sizes, content.metadata):
                return False
            names = dict(zip(placed.sizes, stored.files, strict=True))
            own = metadata.renamed({name: names[f"{content.base}/{name}"] for name in content.files})
            described = self._record(attrs.evolve(stored, metadata=own))
            entry = {"changes": {directory: described}, "removed": [], "schema": state.schema}
            if self._add(state, entry, metadata.attempt):
                return True
        raise self._late()

    def _add(self, state: LogSnapshot, entry: Mapping[str, Any], attempt: Attempt) -> bool:
        """Make *entry* the next commit after *state*, unless another writer was quicker."""
        if not self.log.add(state.number + 1, entry, attempt):
            return False
        # The commit is made; a checkpoint that fails is made after the next one.
        with suppress(StorageError), translate_errors(repr(self.root), "summed up"):
            self.log.write_checkpoint(state.after([entry]))
        return True

    def _late(self) -> ConflictError:
        return ConflictError(f"{self.root!r}: {_TRIES} other commits came first; nothing was changed: try again")

    def _begun(self, attempt: Attempt, directories: Sequence[str]) -> LogSnapshot:
        """The state to build a commit on, once what was there before the first one is taken over."""
        while True:
            state = self.log.snapshot(directories)
            if state.number or not (there := self._there()):
                return state
            self.log.add(1, {"changes": there, "removed": [], "schema": {}}, attempt)

    def _entry(
        self, changes: Sequence[Change], log: LogSnapshot, attempt: Attempt, base: int | None
    ) -> tuple[dict[str, Any], list[str]]:
        """What the commit will say: the new content of each partition, and the files that are no longer wanted."""
        entry: dict[str, Any] = {}
        removed: list[str] = []
        for change in changes:
            record = log.partitions.get(change.directory)
            content = None if record is None else self._content(record)
            stored = None if content is None else content.metadata
            change.check(content is not None, stored, attempt, base)
            kept: dict[str, int] = {}
            if content is not None:
                if change.mode == "append" and change.metadata is not None:
                    self._check_own(change, content)
                    again = superseded(content.files, attempt, change.key)
                    kept = {name: size for name, size in content.files.items() if name not in again}
                if content.base == self.root:
                    removed += [name for name in content.files if name not in kept and self._ours(name)]
            entry[change.directory] = self._changed(change, log.number + 1, stored, kept)
        return entry, removed

    def _changed(
        self, change: Change, number: int, previous: PartitionMetadata | None, kept: Mapping[str, int]
    ) -> dict[str, Any] | None:
        if change.metadata is None:
            return None
        metadata = attrs.evolve(change.metadata, commit=number)
        if change.foreign:
            return self._record(PartitionFiles(str(change.folder), change.files, metadata))
        prefix = str(change.folder).removeprefix(str(self.bookkeeping)).strip("/")
        names = {name: f"{prefix}/{name}" for name in change.files}
        files = dict(sorted({**kept, **{names[name]: size for name, size in change.files.items()}}.items()))
        metadata = metadata.renamed(names)
        if change.mode == "append":
            metadata = metadata.joined(previous, list(kept), files)
        return self._record(PartitionFiles(self.root, files, metadata))

    def _there(self) -> dict[str, Any]:
        """Partitions that were there before the first commit.

        :raises StorageError: if nobody said what to do with them.
        """
        there = {} if self.folders is None else self.folders.snapshot()
        if there and self.ownership is Ownership.OWNED:
            raise StorageError(
                f"{self.root!r} holds {len(there)} partitions made by others, such as {min(there)!r}; expected"
                " ownership='add-only' to add to them, or 'adopted' to take them over"
            )
        return {directory: self._record(content) for directory, content in there.items()}

    def _ours(self, name: str) -> bool:
        """Whether the file *name* below the root may be removed."""
        return name.startswith(f"{DATA}/") or self.ownership in (Ownership.OWNED, Ownership.ADOPTED)

    def _check_own(self, change: Change, content: PartitionFiles) -> None:
        if content.base != self.root:
            raise StorageError(
                f"partition {change.key!r} lies in {content.base!r}, outside {self.root!r}; expected mode='overwrite',"
                " nothing is added to files of others"
            )

    def _record(self, content: PartitionFiles) -> dict[str, Any]:
        # The root is not written down, so that a dataset can be moved.
        base = None if content.base == self.root else content.base
        metadata = None if content.metadata is None else content.metadata.to_json()
        return {"files": dict(content.files), "base": base, "metadata": metadata}

    def _placed(self, record: Mapping[str, Any]) -> PartitionFiles:
        """What *record* says, with the names of files from the folder that both dataset and bookkeeping lie in."""
        content = self._content(record)
        if content.base != self.root:
            return content
        folder, data, root = self._places
        names = {name: (data if name.startswith(f"{DATA}/") else root) + name for name in content.files}
        files = {names[name]: size for name, size in content.files.items()}
        metadata = content.metadata and content.metadata.renamed(names)
        return PartitionFiles(folder, files, metadata)

    def _content(self, record: Mapping[str, Any]) -> PartitionFiles:
        metadata = record["metadata"]
        return PartitionFiles(
            record.get("base") or self.root, record["files"], metadata and PartitionMetadata.from_json(metadata)
        )


def _metadata_of(record: Mapping[str, Any] | None) -> PartitionMetadata | None:
    return None if record is None else PartitionMetadata.from_json(record["metadata"])
