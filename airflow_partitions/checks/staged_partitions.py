"""Several partitions that one writer has written and nobody has published yet, as checks see each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from airflow_partitions.checks.staged_partition import StagedPartition
from airflow_partitions.core.partition import Partition
from airflow_partitions.frames.several import Several
from airflow_partitions.storage.backend import open_backend
from airflow_partitions.storage.scan.snapshot import snapshot
from airflow_partitions.storage.storage import Storage

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


def staged_partitions(
    partitions: Sequence[Partition], several: Several, storage: Storage, folder: Location
) -> Iterator[StagedPartition]:
    """Each of *partitions*, in that order.

    :param several: what was written.
    :param folder: where it was written to.
    :raises StorageError: if that can't be read.
    """
    keys = [partition.wrapped for partition in partitions if partition.wrapped in several.files]
    table = open_backend(storage).staged(folder)  # one that has the rows of all of them
    own = {} if table is None else snapshot(table, keys)
    for partition in partitions:
        key, directory = partition.wrapped, storage.layout.directory_of(partition.wrapped)
        shares = table is not None and key in several.files
        place = folder if shares else folder / directory
        yield StagedPartition(partition, storage, several.of(key), place, own=own[directory] if shares else None)
