"""What each kind of dataset does in a way of its own, beside the list of its partitions."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import attrs

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.core.errors import InvalidDefinitionError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filters.filter import Filter
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.metadata.statistics import PartitionStatistics
from airflow_partitions.storage.scan.scan_plan import Where
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.stores.staging import Staging

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

_Dataset = TypeVar("_Dataset", bound=Dataset)


@attrs.frozen
class Compacted:
    """What became of the files of one partition.

    :ivar key: text of its key.
    :ivar files: how many there were.
    :ivar into: how many there are now, or would be.
    :ivar bytes: size of those that were written anew, or would be.
    :ivar done: whether it was done; not in a dry run, nor if another writer was there first.
    """

    key: str
    files: int
    into: int
    bytes: int
    done: bool


@attrs.frozen
class Maintained:
    """What was done to a table, or would be.

    :ivar snapshots: numbers of the snapshots that were forgotten.
    :ivar manifests: how many manifests of data files there were.
    :ivar into: how many there are now.
    :ivar files: paths of the files that were removed: no snapshot names them.
    """

    snapshots: tuple[int, ...]
    manifests: int
    into: int
    files: tuple[str, ...]


@attrs.frozen
class Backend(ABC, Generic[_Dataset]):
    """What is done with a dataset in the way of its kind.

    A new kind of table is a folder: a :class:`.Dataset` that names its :class:`.Store` and its backend, and the readers
    and writers of its format. To make a backend reaches nothing.

    :cvar knows_schema: whether readers find the columns by themselves.
    :ivar dataset: the dataset.
    """

    knows_schema: ClassVar[bool] = False

    dataset: _Dataset

    @property
    @abstractmethod
    def is_freezable(self) -> bool:
        """Whether what it holds can be kept for a run."""

    @abstractmethod
    def freeze(self, run: str, folder: str | None) -> str:
        """Keep what it holds, for all who ask for the same *run*; what the dataset is pinned to.

        :param folder: where to keep it, if not beside the data.
        :raises StorageError: if it can't be kept.
        """

    @abstractmethod
    def release(self) -> None:
        """Remove what the dataset is pinned to."""

    @abstractmethod
    def check_there(self) -> None:
        """Make sure that there is such a dataset, with or without partitions.

        :raises MissingInputError: if there is not.
        """

    def handed_over(self, folder: Location) -> _Dataset:
        """The dataset as a process can read it that reaches no catalog.

        :param folder: where something may be kept for it.
        :raises MissingInputError: if there is no such dataset.
        :raises StorageError: if it can't be reached or kept.
        """
        return self.dataset

    def connected(self, properties: Callable[[str], dict[str, Any]]) -> _Dataset:
        """The dataset as a process reaches it that knows the *properties* of a connection by its name."""
        return self.dataset

    @abstractmethod
    def scratch(self, folder: Path, attempt: Attempt, directory: str) -> tuple[_Dataset, Staging]:
        """A dataset like it that a trial writes to, and where: below *folder*.

        :param directory: of the partition to write.
        :raises InvalidDefinitionError: if nothing tells how to make it.
        """

    def staged(self, folder: Location) -> _Dataset | None:
        """What a try has written to *folder*, if that can be read as a dataset by itself."""
        return None

    @abstractmethod
    def left_in(self, folder: Location, key: Key) -> StagedFiles:
        """What a job that is not ours has left in *folder*, as the partition *key*.

        :raises ForeignRowsError: if a row is of another partition.
        :raises ResultError: if there is nothing, or what is not to be there.
        :raises SchemaError: if its columns are not those of the dataset.
        :raises StorageError: if it can't be read.
        """

    def announce(self, folder: Location) -> str:
        """The name by which engines of SQL insert into the table that a try writes to in *folder*.

        :raises InvalidDefinitionError: if it is no table.
        :raises StorageError: if its catalog can't be reached.
        """
        raise InvalidDefinitionError(
            f"storage {self.dataset.path!r} is no table; expected {{{{ partition.staging }}}}, the folder that a job"
            " writes files to, or storage=Iceberg(…)"
        )

    @abstractmethod
    def where(self, selection: Selection) -> Filter:
        """*selection* as a filter on columns of the rows, with values of their types.

        :raises FilterError: if no columns tell its keys apart.
        """

    def paths(self, partitions: Iterable[StoredPartition]) -> list[str]:
        """The files of *partitions*, which hold their rows and no others.

        :raises FilterError: if files don't tell rows apart.
        """
        return [path for partition in partitions for path in partition.paths]

    def places(self, folder: Location) -> tuple[str, ...]:
        """The folders that a job writes to whose staging place is *folder*."""
        return (str(folder),)

    @abstractmethod
    def start_over(self, folder: Location) -> None:
        """Let a job write to *folder* from the beginning, which has finished nothing there."""

    def statistics(self, names: Collection[str]) -> PartitionStatistics | None:
        """What is known of the columns *names* of all its rows, if it is known without looking into each file."""
        return None

    @abstractmethod
    def compactable(self, where: Where) -> Iterable[StoredPartition]:
        """The partitions that *where* asks for, with what it takes to :meth:`merge` their files.

        :raises InvalidDefinitionError: if such files can't be merged.
        """

    @abstractmethod
    def merge(self, partition: StoredPartition, target: int, *, dry_run: bool) -> Compacted | None:
        """Write the small files of *partition* as few; ``None`` if they are as few as can be.

        :param target: size in bytes of a file that is large enough.
        """

    def maintain(
        self, keep_snapshots: timedelta | None, keep_files: timedelta | None, now: datetime, *, dry_run: bool
    ) -> Maintained:
        """Keep it small: see :func:`.maintain_table`."""
        raise InvalidDefinitionError(
            f"storage {self.dataset.path!r} is no table; expected Iceberg(…), or clean() and compact() for files"
        )

    @abstractmethod
    def statements(self, table: str, engine: str) -> Iterator[str]:
        """The statements by which *engine* sees it as *table*, each without its end: see :func:`.ddl`."""

    def _digest(self, run: str) -> str:
        """A name for what is kept for *run*."""
        return hashlib.sha256(f"{self.dataset.place}\0{run}".encode()).hexdigest()[:24]


_class = cache(resolve_name)


def open_backend(dataset: _Dataset) -> Backend[_Dataset]:
    """The backend of *dataset*: the one that its class names."""
    backend: Backend[_Dataset] = _class(dataset.backend)(dataset)
    return backend
