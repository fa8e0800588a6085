"""The stored partitions of a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from airflow_partitions.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.scan.stored_partition import StoredPartition, same
from airflow_partitions.storage.stores.directory_store import DirectoryStore
from airflow_partitions.storage.stores.open import open_store
from airflow_partitions.storage.stores.store import Accept


def inventory(dataset: Dataset, accept: Accept | None = None) -> Iterator[StoredPartition]:
    """The partitions of *dataset*, in the order of their folders' names.

    :param accept: asked for every column on the way down; what it refuses is not listed, so it costs nothing.
    """
    with translate_errors(repr(dataset.path), "listed"):
        known = open_store(dataset)
        directories = known.listed(accept) if isinstance(known, DirectoryStore) else None
    if directories is None or not isinstance(known, DirectoryStore):
        yield from snapshot(dataset, accept=accept).values()
    else:
        for directory in directories:
            yield StoredPartition(directory, dataset.path, dataset.layout, partial(known.content, directory), known)


def snapshot(
    dataset: Dataset, keys: Iterable[Key] | None = None, accept: Accept | None = None
) -> Mapping[str, StoredPartition]:
    """The partitions of *dataset* with their files, by directory, as they are at one moment between two commits.

    :param keys: only these, as far as they are stored.
    :param accept: as for :func:`inventory`.
    """
    wanted = None if keys is None else [dataset.layout.directory_of(key) for key in keys]
    with translate_errors(repr(dataset.path) if wanted is None else about(dataset.path, wanted), "listed"):
        known = open_store(dataset)
        found, folders = known.snapshot(wanted, accept), known if isinstance(known, DirectoryStore) else None
    return {
        directory: StoredPartition(directory, dataset.path, dataset.layout, partial(same, content), folders)
        for directory, content in found.items()
    }


def stored(dataset: Dataset, key: Key) -> StoredPartition | None:
    """The partition *key* of *dataset*, ``None`` if there is none."""
    directory, known = dataset.layout.directory_of(key), open_store(dataset)
    if not isinstance(known, DirectoryStore):
        return snapshot(dataset, [key]).get(directory)
    return (
        StoredPartition(directory, dataset.path, dataset.layout, partial(known.content, directory), known)
        if known.has(directory)
        else None
    )
