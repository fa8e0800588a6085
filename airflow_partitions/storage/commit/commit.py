"""Changing several partitions of a dataset in one step."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.errors import (
    InvalidDefinitionError,
    PartitionError,
    ResultError,
    StoredError,
    UnknownOutcomeError,
)
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.commit.index import indexed
from airflow_partitions.storage.commit.publish import metadata_of
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.filesystem import at, sizes
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.change import Change
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.stores.open import open_writable

if TYPE_CHECKING:
    from typing_extensions import Self

    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.stores.staging import Staging


class Commit:
    """Changes of partitions that are made together: when the block ends well all of them can be seen, else none.

    .. code-block:: python

        with Commit(delays) as commit:
            for carrier, rows in flights.items():
                rows.to_parquet(commit.stage(carrier) / "0.parquet")
                commit.put(carrier, rows=len(rows))
            commit.drop("OLD")

    Of two commits that were under way at once and write the same partition, the first is made; the other one fails and
    changes nothing. (Appending does not conflict: both are made.)

    A partition is written once in a commit. What was dropped or truncated before is replaced then, whatever the mode.

    :param dataset: the dataset.
    :param attempt: who writes; a newer try of the same run makes anew what the earlier ones made.
    :param evolve: let the schema change: columns may come, go, and become wider.
    :raises InvalidDefinitionError: if the dataset belongs to someone else.
    :raises StorageError: if it can't be reached or written.
    :ivar metadata: what each written partition says about itself, by the text of its key, once it is published.
    :ivar register: who takes the changes down.
    :ivar base: number of the last commit when this one began.
    :ivar rule: what may be written.

    At the end of the block:

    :raises StoredError: if a partition to be created is stored.
    :raises NotStoredError: if one to be dropped is not.
    :raises SchemaError: if what is written has another schema than the dataset, without *evolve*.
    :raises ConflictError: if another writer was there first.
    """

    def __init__(self, dataset: Dataset, attempt: Attempt | None = None, *, evolve: bool = False) -> None:
        self.dataset = dataset
        self.attempt = attempt or self.anyone()
        self.metadata: dict[str, PartitionMetadata] = {}
        self.rule = SchemaRule(None if dataset.schema is None else dict(dataset.schema), evolve)
        self.store = open_writable(dataset)
        with translate_errors(f"storage {dataset.path!r}", "written"):
            self._staging = None if dataset.ownership is Ownership.READ_ONLY else self.store.staging(self.attempt)
            self.base = self.store.version() if self._staging is None else self._staging.base
        self._changes: dict[str, Change] = {}

    @staticmethod
    def anyone() -> Attempt:
        """Who writes if nobody says: a run of its own."""
        return Attempt("", secrets.token_hex(8), 1)

    @property
    def changes(self) -> list[Change]:
        """The changes so far."""
        return list(self._changes.values())

    @property
    def folder(self) -> Location:
        """The folder to write to; the files of each partition go to its directory below.

        :raises InvalidDefinitionError: if the dataset is only read.
        """
        return self.staging.data

    @property
    def staging(self) -> Staging:
        """The place of this commit, for a job that writes to it.

        :raises InvalidDefinitionError: if the dataset is only read.
        """
        if self._staging is None:
            raise InvalidDefinitionError(
                f"storage {self.dataset.path!r} has ownership='read-only', so nothing is written there; expected"
                " add(key, path) of files that are there"
            )
        return self._staging

    def stage(self, key: Key | Any, table: str = "") -> Location:
        """The folder to write the files of *key* to.

        :param table: the table that they are of, if the dataset has tables.
        """
        folder = self.folder / self.dataset.layout.directory_of(self.dataset.layout.key(key))
        if table:
            folder = folder / table
        if isinstance(folder, Path):
            folder.mkdir(parents=True, exist_ok=True)
        return folder

    def put(
        self,
        key: Key | Any,
        *,
        mode: str = "create",
        rows: int | None = None,
        schema: Mapping[str, str] | None = None,
        user: Mapping[str, Any] | None = None,
    ) -> None:
        """Make what was written to :meth:`stage` the content of the partition *key*.

        :param mode: ``"create"`` fails if there is a partition, ``"append"`` adds to it, ``"overwrite"`` replaces it.
        :param rows: how many rows there are.
        :param schema: column to Spark type. Without it, where the dataset has none either, the files get no index.
        :param user: what to keep with the partition.
        :raises ResultError: if nothing was written.
        :raises StoredError: if this commit has written the partition before.
        :raises InvalidDefinitionError: if the dataset declares an index of a column that isn't there.
        :raises StorageError: if the files can't be read, to make that index.
        """
        self.put_files(key, StagedFiles(rows, {}, schema or {}), mode=mode, user=user)

    def put_files(
        self,
        key: Key | Any,
        staged: StagedFiles,
        *,
        mode: str = "create",
        user: Mapping[str, Any] | None = None,
        attempt: Attempt | None = None,
    ) -> None:
        """As :meth:`put`, with what their writer says about the *staged* files.

        :param attempt: for whom it is written, if not for who commits.
        """
        wrapped = self.dataset.layout.key(key)
        folder = self.stage(wrapped)
        written = attrs.evolve(staged, files=self.store.staged(folder, self.dataset.members or ("",)))
        self._check_tables(wrapped, written.files)
        self._write(wrapped, mode, folder, written, user or {}, attempt=attempt)

    def put_many(
        self,
        staged: Mapping[Key, StagedFiles],
        *,
        mode: str = "create",
        user: Mapping[str, Any] | None = None,
        attempts: Mapping[Key, Attempt] | None = None,
    ) -> None:
        """As :meth:`put_files`, with what one writer says about all that it has written to :attr:`folder`.

        :param attempts: for whom each is written, if not for who commits.
        """
        for key, files in staged.items():
            self._write(key, mode, self.written_to(key), files, user or {}, attempt=(attempts or {}).get(key))

    def withhold(self, staged: StagedFiles) -> None:
        """Leave out what one writer has written to :attr:`folder` together with the files of others."""
        self.store.withhold(staged.files)

    def written_to(self, key: Key) -> Location:
        """Where the files of *key* are that one writer has written to :attr:`folder` together with those of others."""
        return self.store.written_to(self.folder, self.dataset.layout.directory_of(key))

    def add(self, key: Key | Any, path: str, *, user: Mapping[str, Any] | None = None) -> None:
        """Make files that are there already the partition *key*. They stay where they are, whatever happens.

        :param path: their folder: absolute, or below the dataset's.
        :raises InvalidDefinitionError: if the dataset has no log to name them.
        """
        if self.store.in_folders:
            raise InvalidDefinitionError(
                f"storage {self.dataset.path!r} is listed by its folders; expected log=, to add files from elsewhere"
            )
        wrapped = self.dataset.layout.key(key)
        absolute = path if path.startswith("/") or "://" in path else f"{self.dataset.path}/{path}"
        folder = at(absolute, dict(self.dataset.credentials))
        folder_files = {n: s for n, s in sizes(folder).items() if not any(part[0] in "_." for part in n.split("/"))}
        if not folder_files:
            raise ResultError(f"partition {str(wrapped)!r}: there is no file in {absolute!r}; expected some")
        self._check_tables(wrapped, folder_files)
        self._write(wrapped, "create", folder, StagedFiles(None, folder_files, {}), user or {}, foreign=True)

    def truncate(self, key: Key | Any | None = None) -> None:
        """Leave the partition *key*, or all that are stored, without rows."""
        for wrapped in self._stored() if key is None else [self.dataset.layout.key(key)]:
            self._write(wrapped, "overwrite", self.stage(wrapped), StagedFiles(0, {}, {}), {})

    def drop(self, key: Key | Any | None = None) -> None:
        """Remove the partition *key*, or all that are stored.

        :raises NotStoredError: at the end of the block, if *key* is not stored.
        """
        for wrapped in self._stored() if key is None else [self.dataset.layout.key(key)]:
            directory = self.dataset.layout.directory_of(wrapped)
            self._changes[directory] = Change(str(wrapped), directory, "overwrite")

    def publish(self) -> None:
        """Make the changes. The end of the block does."""
        if not self.changes:
            self.discard()
            return
        committed = self.store.commit(self.changes, self.attempt, self.base, self.rule)
        self.metadata = {each.key: each for each in committed if each is not None}
        if self._staging is not None:
            self._staging.remove()

    def discard(self) -> None:
        """Forget the changes, and what was written for them."""
        if self._staging is not None:
            self.store.discard(self._staging)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._forget()
            return
        try:
            self.publish()
        except UnknownOutcomeError:  # what was written may be in use: `clean` removes it if it is not
            raise
        except PartitionError:
            self._forget()
            raise

    def _forget(self) -> None:
        """Discard the changes while an error is on its way, which says more than one on the way to remove them."""
        with suppress(PartitionError):  # `clean` removes what is left
            self.discard()

    def _check_tables(self, key: Key, names: Iterable[str]) -> None:
        """Make sure that every table has a file among *names*."""
        if missing := set(self.dataset.members) - {name.partition("/")[0] for name in names}:
            raise ResultError(
                f"partition {str(key)!r} has no file of table {min(missing)!r}; expected one of each of"
                f" {', '.join(self.dataset.members)}, be it without rows"
            )

    def _stored(self) -> list[Key]:
        return [self.dataset.layout.key_of(directory) for directory in self.store.listed()]

    def _write(
        self,
        key: Key,
        mode: str,
        folder: Location,
        written: StagedFiles,
        user: Mapping[str, Any],
        *,
        foreign: bool = False,
        attempt: Attempt | None = None,
    ) -> None:
        directory = self.dataset.layout.directory_of(key)
        try:
            json.dumps(dict(user))
        except (TypeError, ValueError, RecursionError) as error:
            raise ResultError(
                f"partition {str(key)!r}: user={user!r} has no form in JSON ({error}); expected text, numbers, bools,"
                " lists and mappings"
            ) from error
        if (earlier := self._changes.get(directory)) is not None:
            if earlier.files:
                raise StoredError(
                    f"partition {str(key)!r} was written by this commit before; expected all of its files to be staged,"
                    " and then one put(), add() or truncate()"
                )
            mode = "overwrite"  # what it drops or truncates is gone when it has ended
        written = indexed(self.dataset, self.store, directory, folder, written)
        metadata = attrs.evolve(metadata_of(str(key), attempt or self.attempt, written), user=dict(user))
        self._changes[directory] = Change(str(key), directory, mode, metadata, folder, written.files, foreign)
