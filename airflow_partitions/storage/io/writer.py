"""The interface of writers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from airflow_partitions.core.errors import WriterError
from airflow_partitions.core.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.format_limits import check_columns
from airflow_partitions.storage.io.shape import Shape
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.metadata.staged_files import StagedFiles


class Writer(ABC):
    """Writes frames of one kind as files of some formats, on some file systems.

    :cvar frame: the kind: a word such as ``"pandas"``, or a type.
    :cvar protocols: names of file systems as in URLs (``"s3"``; ``"file"`` is the local one); none means all of them.
    :cvar formats: formats of files; none means all of them.
    """

    frame: ClassVar[str | type]
    protocols: ClassVar[tuple[str, ...]] = ()
    formats: ClassVar[tuple[str, ...]] = ()

    def check(self, dataset: Dataset) -> None:
        """Refuse a dataset that can't be written, as far as its declaration tells.

        :raises WriterError: if its format can't hold its declared columns.
        """
        if dataset.schema is not None:
            check_columns(dataset, dict(dataset.schema))

    @abstractmethod
    def write(self, frame: Any, key: Key, request: WriteRequest) -> StagedFiles:
        """Write *frame* to the folder of the request as the rows of the partition *key*.

        Partition columns are checked and left out. There is at least one file, be it without rows.

        :return: the files, how many rows they hold, and column to Spark type.
        :raises ForeignRowsError: if a row belongs to another partition.
        :raises ResultError: if *frame* can't be written at all.
        :raises SchemaError: if the dataset declares other columns.
        :raises WriterError: if the format can't hold the rows.
        """

    def write_many(self, frame: Any, request: WriteRequest, shape: Shape) -> Mapping[Key, StagedFiles]:
        """Write the rows of *frame* to the directories below the folder of the request that their own values name.

        :return: what was written, by partition.
        :raises ForeignRowsError: if a row names no partition of the dataset.
        :raises ResultError: if *frame* lacks a partition column, or can't be written at all.
        :raises SchemaError: if the dataset declares other columns.
        :raises WriterError: if the format can't hold the rows, or this writer writes one partition at a time.
        """
        raise WriterError(f"{type(self).__name__} writes one partition at a time; expected save({{key: frame}})")
