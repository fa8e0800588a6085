"""Who takes down what is written to a dataset."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Self, TypeVar

from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.change import Change
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule

_Store = TypeVar("_Store")
#: A dataset, its changes, the number of the last commit that their writer knew of, and what may be written.
Request = tuple[_Store, Sequence[Change], int | None, SchemaRule | None]


class Store(ABC):
    """What can be asked of who takes down the commits of a dataset.

    :ivar root: where the dataset is.
    """

    root: str | Path

    @abstractmethod
    def number(self) -> int:
        """Number of the last commit."""

    @abstractmethod
    def state(self) -> object:
        """What differs whenever a commit was made since."""

    def apply(
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
        return self.apply_all([(self, changes, base, rule)], attempt)[0]

    @classmethod
    def apply_all(cls, requests: Sequence[Request[Self]], attempt: Attempt) -> list[list[PartitionMetadata | None]]:
        """Make all changes of all datasets, or none; see :meth:`apply`."""
        first, changes, _, _ = requests[0]
        with translate_errors(about(str(first.root), [change.key for change in changes]), "published"):
            return cls._applied(requests, attempt)

    @classmethod
    @abstractmethod
    def _applied(cls, requests: Sequence[Request[Self]], attempt: Attempt) -> list[list[PartitionMetadata | None]]: ...
