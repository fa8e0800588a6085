"""Partitioned datasets: what can be done with one, whatever stores it.

A Dag file only describes a dataset, so what does the work is imported where it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from airflow_partitions.core.keys import Key
from airflow_partitions.storage.dataset import Dataset

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from typing_extensions import Self

    from airflow_partitions.storage.metadata.attempt import Attempt
    from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata
    from airflow_partitions.storage.scan.scan_plan import Where
    from airflow_partitions.storage.scan.stored_partition import StoredPartition


@attrs.frozen
class Storage(Dataset):
    """A dataset, with what can be done with it: :class:`Files` are one."""

    def exists(self, key: Key | Any) -> bool:
        """Whether there is a partition *key*, be it empty.

        :raises StorageError: if the storage can't be reached.
        """
        return self.get(key) is not None

    def get(self, key: Key | Any) -> StoredPartition | None:
        """The partition *key* (wrapped, plain or its text), ``None`` if it is not stored.

        :raises InvalidKeyError: if the definition has no such key.
        """
        from airflow_partitions.storage.scan.scan_plan import get

        return get(self, key)

    def get_many(self, where: Where = None) -> Mapping[Key, StoredPartition]:
        """The stored partitions that *where* asks for, by key: see :meth:`list`."""
        return {partition.key: partition for partition in self.list(where)}

    def list(self, where: Where = None) -> Iterator[StoredPartition]:
        """The stored partitions that *where* asks for, with their files, sizes and metadata.

        :param where: a :class:`Filter` on dimensions and partition columns, a :class:`Selection`, a key or several.
            Keys that are not stored are left out.
        :raises FilterError: if a part of the filter can't be decided for a partition as a whole.
        """
        from airflow_partitions.storage.scan.scan_plan import list_

        return list_(self, where)

    def load(
        self,
        where: Where = None,
        as_: str | type = "spark",
        *,
        spark: SparkSession | None = None,
        columns: Iterable[str] | None = None,
        full_scan: bool = False,
    ) -> Mapping[str, Callable[[], Any]]:
        """A function for each partition, by the text of its key, which reads it. Nothing is read before it is called.

        The parameters are those of :meth:`read`.
        """
        from airflow_partitions.storage.io.read import load

        return load(self, where, as_, spark=spark, columns=columns, full_scan=full_scan)

    def read(
        self,
        where: Where = None,
        as_: str | type = "spark",
        *,
        spark: SparkSession | None = None,
        columns: Iterable[str] | None = None,
        full_scan: bool = False,
    ) -> Any:
        """One frame of all the partitions that *where* asks for, with the partition columns behind the others.

        The schema is the declared one: a column that a file lacks is null, a narrower type is widened.

        :param where: as for :meth:`list`; a filter may also speak of columns of the files.
        :param as_: ``"spark"``, ``"pandas"``, ``"polars"`` or ``"arrow"``, the type of the frame itself, or what you
            registered a reader for.
        :param spark: the session; by default the active one.
        :param columns: only these, in this order.
        :param full_scan: read every partition if the filter excludes none.
        :raises MissingInputError: if a key that was asked for is not stored, or nothing tells the schema.
        :raises FilterError: if no part of the filter excludes a partition or has an index, without *full_scan*.
        :raises SchemaError: if a file does not fit the schema; before any job is started.
        """
        from airflow_partitions.storage.io.read import read

        return read(self, where, as_, spark=spark, columns=columns, full_scan=full_scan)

    def save(
        self,
        data: Mapping[Any, Any],
        *,
        mode: str | None = None,
        attempt: Attempt | None = None,
        user: Mapping[str, Any] | None = None,
        evolve: bool = False,
    ) -> Mapping[str, PartitionMetadata]:
        """Write partitions, the counterpart of :meth:`load`: all of *data* is published in one step, or nothing.

        .. code-block:: python

            delays.save({"2013-02-08": frame, "2013-02-09": lambda: ask("2013-02-09")})

        In a task of Airflow the run's own partition is replaced, since making it is what the run is for, and its rows,
        files and bytes go to the event of the asset that the task makes.

        :param data: key to frame of pandas, polars, Arrow or Spark, or to a function that gives one. Functions are
            called one by one, when all before is written. Partition columns of a frame are checked and left out.
        :param mode: ``"create"`` fails if there is a partition, ``"append"`` adds to it, ``"overwrite"`` replaces it.
            Default: ``"create"``, and ``"overwrite"`` for the run's own partition.
        :param attempt: who writes; a newer try of the same run makes anew what the earlier ones made. By default,
            unless it appends, the running task of Airflow.
        :param user: what to keep with each partition.
        :param evolve: let the schema change: columns may come, go, and become wider.
        :return: what each partition says about itself, by the text of its key.
        :raises InvalidKeyError: if a key is not one of the definition, or given twice; before anything is called.
        :raises ForeignRowsError: if a row belongs to another partition.
        :raises SchemaError: if what is given has another schema than the dataset, without *evolve*.
        :raises WriterError: if the format can't hold it.
        :raises StoredError: if a partition to be created is stored.
        :raises ConflictError: if another writer was there first.
        """
        from airflow_partitions.storage.commit.save import save

        return save(self, data, mode=mode, attempt=attempt, user=user, evolve=evolve)

    def freeze(self, run: str, *, folder: str | None = None) -> Self:
        """This dataset with the partitions and files that it has when the first one asks on behalf of *run*.

        All who ask for the same run get the same, in any process, until :meth:`release`.

        :param run: what the listing is for, such as the id of the Dag run.
        :param folder: where listings are kept; by default in the bookkeeping, beside *path*.
        :raises StorageError: if it can't be kept there.
        """
        from airflow_partitions.storage.backend import open_backend

        return self.pinned(open_backend(self.pinned(None)).freeze(run, folder))

    def release(self) -> Self:
        """This dataset as it is now; the listing made by :meth:`freeze` is removed, for all."""
        from airflow_partitions.storage.backend import open_backend

        open_backend(self).release()
        return self.pinned(None)
