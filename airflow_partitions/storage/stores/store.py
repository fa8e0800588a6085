"""Interface of the stores that list and commit a dataset's partitions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn

import attrs

from airflow_partitions.core.errors import ConflictError, InvalidDefinitionError, ResultError
from airflow_partitions.storage.filesystem.filesystem import remove
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.change import Change
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule
from airflow_partitions.storage.metadata.staged_files import readable_files
from airflow_partitions.storage.stores.staging import Staging

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

#: Given a partition column and its text: whether partitions with it are of interest.
Accept = Callable[[str, str], bool]


@attrs.frozen
class Limits:
    """What is old enough to be removed.

    :ivar replaced: files that were replaced before.
    :ivar staged: staging places and listings that were last changed before.
    """

    replaced: datetime
    staged: datetime


class Store(ABC):
    """The partitions of a dataset. Each is known by its directory, such as ``date=2013-02-08/airport=EWR``.

    A new kind of store is a subclass; the ``store`` of its kind of :class:`.Dataset` names the function that opens it.

    :ivar root: where the dataset is.
    :ivar pin: what it is pinned to, if it sees to that by itself: see :meth:`freeze`.
    """

    #: Whether a partition is a folder that moves as a whole, so that it holds files of its own only.
    in_folders: ClassVar[bool] = False

    root: str | Path
    pin: str | None = None

    @abstractmethod
    def snapshot(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> Mapping[str, PartitionFiles]:
        """What is stored in *directories*, or in all that *accept* wants, at one moment between commits."""

    def listed(
        self, directories: Sequence[str] | None = None, accept: Accept | None = None
    ) -> Mapping[str, PartitionFiles | None]:
        """Which of *directories* are stored, or which of all that *accept* wants, in order.

        :return: with each what is stored in it, or ``None`` where to look takes a step of its own: :meth:`content`.
        """
        return self.snapshot(directories, accept)

    def content(self, directory: str) -> PartitionFiles | None:
        """What is stored in *directory*, ``None`` if nothing is."""
        return self.snapshot([directory]).get(directory)

    def superseded(self, directory: str) -> Sequence[PartitionFiles]:
        """What was stored in *directory* before, as far as it is kept elsewhere."""
        return ()

    def kept(self, contents: Mapping[str, PartitionFiles]) -> dict[str, PartitionFiles]:
        """What was stored once, by directory: with the place where it is now, without what is no longer kept."""
        now = self.snapshot(list(contents))
        kept: dict[str, PartitionFiles] = {}
        for directory, content in contents.items():
            place = now.get(directory)
            if place is None or not content.is_in(place):
                place = next(filter(content.is_in, self.superseded(directory)), None)
            if place is not None:
                kept[directory] = attrs.evolve(content, base=place.base)
        return kept

    def recorded_schema(self) -> Mapping[str, str]:
        """Column to Spark type of the dataset, as far as its commits told."""
        return {}

    def check_writable(self) -> None:  # noqa: B027 - most stores can be
        """Refuse to be written to, if the dataset belongs to someone else.

        :raises InvalidDefinitionError: if it does.
        """

    @abstractmethod
    def version(self) -> int:
        """Number of the last commit."""

    @abstractmethod
    def staging(self, attempt: Attempt, directory: str = "") -> Staging:
        """Make the place where *attempt* writes.

        :param directory: of the partition to write, if it is one.
        :raises StorageError: if it can't be made or written.
        :raises ConflictError: if the attempt has one already.
        """

    @abstractmethod
    def place_of(self, attempt: Attempt, directory: str = "", base: int | None = None) -> Staging:
        """The place where *attempt* writes, whether or not it was made.

        :param directory: of the partition to write, if it is one.
        :param base: number of the last commit when it was made.
        """

    def staged(self, folder: Location, members: Sequence[str] = ("",)) -> Mapping[str, int]:
        """Name and size of the files that a job has left in *folder* to be published.

        :param members: those that it has written, if partitions have such.
        :raises ResultError: if there is no *folder*, or nothing tells that there is a partition without rows.
        """
        files = readable_files(folder, members)
        if not files:
            raise ResultError(f"there is no file in {folder}; expected at least one, be it without rows")
        return files

    def written_to(self, folder: Location, directory: str) -> Location:
        """Where the files of *directory* are that were written to *folder* together with those of others."""
        return folder / directory

    def withhold(self, files: Collection[str]) -> None:  # noqa: B027 - most stores publish only what changes name
        """Let what is published be without *files*, which were written together with others and belong to no change.

        :param files: their names, as :meth:`staged` has them.
        """

    def discard(self, staging: Staging) -> None:
        """Remove what a try has written, of which nothing was published."""
        remove(staging.data)
        staging.remove()

    def commit(
        self,
        changes: Sequence[Change],
        attempt: Attempt,
        base: int | None = None,
        rule: SchemaRule | None = None,
    ) -> list[PartitionMetadata | None]:
        """Make all of *changes*, or none.

        :param base: number of the last commit when the writer began.
        :param rule: what may be written.
        :return: what each partition says about itself now.
        :raises ConflictError: if another writer was there first.
        :raises StorageError: if the file system refuses; what was there is there again.
        """
        with translate_errors(lambda: about(str(self.root), [change.key for change in changes]), "published"):
            return self._committed(changes, attempt, base, rule)

    @abstractmethod
    def _committed(
        self, changes: Sequence[Change], attempt: Attempt, base: int | None, rule: SchemaRule | None
    ) -> list[PartitionMetadata | None]: ...

    def describe(self, directory: str, content: PartitionFiles, metadata: PartitionMetadata) -> None:
        """Let the *content* of *directory* say *metadata* about itself from now on; its files stay as they are.

        Who writes the partition at the same time does not notice.

        :raises ConflictError: if something else is stored there now; nothing was changed.
        :raises StorageError: if the file system refuses.
        """
        with translate_errors(lambda: about(str(self.root), [metadata.key]), "described"):
            if not self._described(directory, content, metadata):
                raise ConflictError(
                    f"partition {metadata.key!r} of {str(self.root)!r} was written or dropped meanwhile; nothing was"
                    " changed"
                )

    @abstractmethod
    def _described(self, directory: str, content: PartitionFiles, metadata: PartitionMetadata) -> bool:
        """Do so, unless something else is stored."""

    def recover(self) -> None:  # noqa: B027 - most stores leave nothing half done
        """Take back what a killed process left half done."""

    @abstractmethod
    def expired(self, limits: Limits) -> list[Location]:
        """What may be removed: replaced files, the staging places of failed tries, the listings of runs."""

    def clear_away(self, location: Location) -> None:
        """Remove one of those that are :meth:`expired`."""
        remove(location)


class ReadOnlyStore(Store):
    """A store of a dataset that belongs to someone else."""

    def check_writable(self) -> NoReturn:
        refuse_to_write(self.root)

    def version(self) -> NoReturn:
        self.check_writable()

    def staging(self, attempt: Attempt, directory: str = "") -> NoReturn:
        self.check_writable()

    def place_of(self, attempt: Attempt, directory: str = "", base: int | None = None) -> NoReturn:
        self.check_writable()

    def _committed(
        self, changes: Sequence[Change], attempt: Attempt, base: int | None, rule: SchemaRule | None
    ) -> NoReturn:
        self.check_writable()

    def _described(self, directory: str, content: PartitionFiles, metadata: PartitionMetadata) -> NoReturn:
        self.check_writable()

    def expired(self, limits: Limits) -> NoReturn:
        self.check_writable()


def refuse_to_write(root: str | Path) -> NoReturn:
    """Refuse to write the dataset of someone else.

    :raises InvalidDefinitionError: always.
    """
    raise InvalidDefinitionError(
        f"storage {str(root)!r} has ownership='read-only', so it is never written; expected storage of its own,"
        " ownership='add-only' or 'adopted', or log= to say which partitions there are"
    )
