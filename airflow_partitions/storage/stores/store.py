"""Who takes down what is written to a dataset."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path

from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.metadata.change import Change
from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
from airflow_partitions.storage.metadata.schema import SchemaRule

#: Given a partition column and its text: whether partitions with it are of interest.
Accept = Callable[[str, str], bool]


class Store(ABC):
    """What can be asked of who takes down the commits of a dataset.

    :ivar root: where the dataset is.
    """

    root: str | Path

    @abstractmethod
    def number(self) -> int:
        """Number of the last commit."""

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
        with translate_errors(about(str(self.root), [change.key for change in changes]), "published"):
            return self._applied(changes, attempt, base, rule)

    @abstractmethod
    def _applied(
        self, changes: Sequence[Change], attempt: Attempt, base: int | None, rule: SchemaRule | None
    ) -> list[PartitionMetadata | None]: ...
