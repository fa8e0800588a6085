"""The stored partitions of a dataset. Its store is asked once, for however many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from airflow_partitions.core.keys import Key
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.translate_errors import about, translate_errors
from airflow_partitions.storage.scan.stored_partition import StoredPartition
from airflow_partitions.storage.stores.open import open_store
from airflow_partitions.storage.stores.store import Accept


def inventory(dataset: Dataset, accept: Accept | None = None) -> Iterator[StoredPartition]:
    """The partitions of *dataset*, in the order of their folders' names.

    :param accept: asked for every column on the way down; what it refuses is not listed, so it costs nothing.
    """
    with translate_errors(repr(dataset.path), "listed"):
        store = open_store(dataset)
        listed = store.listed(accept=accept)
    for directory, content in listed.items():
        yield StoredPartition(directory, dataset.path, dataset.layout, store, content)


def stored(dataset: Dataset, keys: Iterable[Key]) -> Iterator[StoredPartition]:
    """Those of the partitions *keys* that *dataset* has, in the order of *keys*."""
    directories = [dataset.layout.directory_of(key) for key in keys]
    with translate_errors(partial(about, dataset.path, directories), "listed"):
        store = open_store(dataset)
        listed = store.listed(directories)
    for directory in directories:
        if directory in listed:
            yield StoredPartition(directory, dataset.path, dataset.layout, store, listed[directory])


def snapshot(
    dataset: Dataset, keys: Iterable[Key] | None = None, accept: Accept | None = None
) -> Mapping[str, StoredPartition]:
    """The partitions of *dataset* with their files, by directory, as they are at one moment between two commits.

    :param keys: only these, as far as they are stored.
    :param accept: as for :func:`inventory`.
    """
    directories = None if keys is None else [dataset.layout.directory_of(key) for key in keys]
    with translate_errors(repr(dataset.path) if directories is None else about(dataset.path, directories), "listed"):
        store = open_store(dataset)
        contents = store.snapshot(directories, accept)
    return {
        directory: StoredPartition(directory, dataset.path, dataset.layout, store, content)
        for directory, content in contents.items()
    }
