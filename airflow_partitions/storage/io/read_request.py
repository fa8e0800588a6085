"""The request that a reader answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.core.errors import FilterError, InvalidDefinitionError
from airflow_partitions.storage.filesystem.translate_errors import about
from airflow_partitions.storage.filters.pruning import Pruning
from airflow_partitions.storage.io.request import Request
from airflow_partitions.storage.scan.stored_partition import StoredPartition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@attrs.frozen(kw_only=True)
class ReadRequest(Request):
    """What to read.

    :ivar dataset: the dataset: its path, format, options, declared schema.
    :ivar partitions: the partitions to read; ``None`` for all files of a dataset without partitions.
    :ivar columns: columns of the frame, in order; ``None`` for all of them, partition columns last.
    :ivar pruning: the filter; its ``rows`` is what the rows have yet to be tested for.
    :ivar spark: the session, if one was given.
    :ivar attempt: name of the try that reads, if one does. Spark takes cached data for what has the same plan,
        also what another session of its server has cached and somebody has replaced since: a plan of its own has none.
    """

    partitions: tuple[StoredPartition, ...] | None = None
    columns: tuple[str, ...] | None = None
    pruning: Pruning | None = None
    spark: SparkSession | None = None
    attempt: str | None = None

    def __attrs_post_init__(self) -> None:
        if self.dataset.members and self.dataset.member is None:
            raise InvalidDefinitionError(
                f"storage {self.dataset.path!r} has tables; expected one of them: .table({self.dataset.members[0]!r})"
            )

    @property
    def partition_columns(self) -> Mapping[str, str]:
        """Type of each partition column of the frame."""
        if self.partitions is None or not self.dataset.layout.in_frames:
            return {}
        return {name: column.type for name, column in self.dataset.layout.columns.items()}

    def named(self, path: str) -> str:
        """The file *path*, with its partition, for messages."""
        for partition in self.partitions or ():
            if any(each.endswith(path.lstrip("/")) for each in partition.paths):
                return f"{path} of {about(self.dataset.path, [str(partition.key)])}"
        return f"{path} of {self.dataset.path!r}"

    def chosen(self, names: list[str]) -> list[str]:
        """The columns that are asked for, out of *names*.

        :raises FilterError: if one is not known.
        """
        if self.columns is None:
            return names
        check_columns(self, self.columns, names)
        return list(self.columns)


def check_columns(scan: ReadRequest, names: Collection[str], columns: list[str]) -> None:
    """Refuse *names* of columns that are not among *columns*.

    :raises FilterError: if there is one.
    """
    if unknown := [name for name in names if name not in columns]:
        raise FilterError(f"there is no column {unknown[0]!r} in {scan.dataset.path!r}; expected some of {columns}")
