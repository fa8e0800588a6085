"""A partition that is written and not published yet, as checks see it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.partition import Partition
from airflow_partitions.frames.input import Input
from airflow_partitions.frames.rows import row_count as rows_in
from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.registry import reader_for
from airflow_partitions.storage.io.sample import row_count, sample
from airflow_partitions.storage.io.statistics import statistics_of
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.metadata.staged_files import StagedFiles
from airflow_partitions.storage.metadata.statistics import PartitionStatistics
from airflow_partitions.storage.scan.scan_plan import get
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.storage import Storage
from airflow_partitions.storage.stores.open import open_store

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from typing_extensions import Self

    from airflow_partitions.storage.filesystem.filesystem import Location


@attrs.frozen(eq=False)
class StagedPartition:
    """A partition between staged and published.

    :ivar partition: its key and definition.
    :ivar storage: where it is to be published; one table of it if it has tables.
    :ivar written: what its writer says: rows, files and their sizes, columns and their Spark types.
    :ivar inputs: what it was made from, by name: inputs, or in a trial the frames that stand for them.
    :ivar own: its files, where those of other partitions are in the same table.
    """

    partition: Partition
    storage: Storage
    written: StagedFiles
    _folder: Location
    inputs: Mapping[str, Any] = attrs.field(factory=dict)
    own: StoredPartition | None = None

    def table(self, name: str) -> Self:
        """One table of it."""
        prefix = f"{name}/"
        written = attrs.evolve(
            self.written,
            rows=None,
            files={n.removeprefix(prefix): s for n, s in self.written.files.items() if n.startswith(prefix)},
            schema={n.removeprefix(prefix): k for n, k in self.written.schema.items() if n.startswith(prefix)},
            index={},
        )
        return attrs.evolve(self, storage=self.storage.table(name), written=written, folder=self._folder / name)

    @property
    def files_schema(self) -> Mapping[str, str]:
        """Column to Spark type of its files, as they were written."""
        return self.written.schema

    @cached_property
    def schema(self) -> Mapping[str, str]:
        """Column to Spark type; partition columns are behind the others."""
        layout = self.storage.layout
        folders = {name: column.type for name, column in layout.columns.items()} if layout.in_frames else {}
        return {**self.files_schema, **folders}

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return row_count(self._request()) if self.written.rows is None else self.written.rows

    def statistics(self, columns: Collection[str]) -> PartitionStatistics:
        """What is known of *columns* without reading them.

        :raises StorageError: if the files can't be reached.
        """
        return statistics_of(self._request(columns), columns) if columns else PartitionStatistics()

    def read(self, columns: Iterable[str] | None = None) -> pa.Table:
        """The rows as a table of Arrow.

        :param columns: only these, in this order.
        :raises StorageError: if the files can't be read.
        """
        return self.read_as("arrow", columns)

    def read_as(self, kind: str | type, columns: Iterable[str] | None = None, spark: SparkSession | None = None) -> Any:
        """The rows as a frame of that *kind*.

        :param columns: only these, in this order.
        :param spark: the session to read by, for a DataFrame of Spark.
        :raises StorageError: if the files can't be read.
        """
        return reader_for(kind, self.storage).read(attrs.evolve(self._request(columns), spark=spark))

    def sample(self, condition: Any, limit: int) -> list[dict[str, Any]]:
        """The first rows for which the Arrow expression *condition* holds, column to value.

        :raises StorageError: if the files can't be read.
        """
        return sample(self._request(), condition, limit)

    def row_count_of(self, name: str) -> int:
        """How many rows the input *name* has, in the partitions that this one depends on.

        :raises MissingInputError: if one is not stored any more.
        """
        source = self.inputs[name]
        if not isinstance(source, Input):
            return rows_in(source)
        partitions = None if source.selection is None else tuple(source.stored().values())
        return row_count(ReadRequest(dataset=source.storage, partitions=partitions))

    def row_count_before(self) -> tuple[Partition, int] | None:
        """The partition before this one, and its rows; ``None`` if there is none, or it is not stored."""
        before = self.partition.previous
        stored = None if before is None else get(self.storage, before.wrapped)
        if before is None or stored is None:
            return None
        return before, row_count(ReadRequest(dataset=self.storage, partitions=(stored,)))

    def _request(self, columns: Iterable[str] | None = None) -> ReadRequest:
        names = None if columns is None else tuple(columns)
        if (whole := open_backend(self.storage).staged(self._folder)) is not None:
            return ReadRequest(dataset=whole, partitions=None if self.own is None else (self.own,), columns=names)
        fields = dict(self.storage.schema or self.written.schema)
        if names is not None and self.storage.format != "csv":  # which is read by the order of columns
            fields = {name: kind for name, kind in fields.items() if name in names}
        dataset = self.storage.declaring(fields) if fields else self.storage.whole()
        dataset = attrs.evolve(dataset, path=str(self._folder))  # a trial stages here what is to be published elsewhere
        directory = self.storage.layout.directory_of(self.partition.wrapped)
        content = PartitionFiles(str(self._folder), self.written.files)
        own = StoredPartition(directory, dataset.path, dataset.layout, open_store(dataset), content)
        return ReadRequest(dataset=dataset, partitions=(own,), columns=names)
