"""Who knows what a dataset holds: its folders, or its manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.filesystem.paths import is_local, local
from airflow_partitions.storage.layout.file_per_key import FilePerKey
from airflow_partitions.storage.stores.directory_store import DirectoryStore
from airflow_partitions.storage.stores.file_store import FileStore
from airflow_partitions.storage.stores.listed_store import ListedStore
from airflow_partitions.storage.stores.log_store import MANIFEST, LogStore
from airflow_partitions.storage.stores.pinned_store import PinnedStore

if TYPE_CHECKING:
    Register = DirectoryStore | LogStore | ListedStore | FileStore | PinnedStore


def open_store(dataset: Dataset) -> Register:
    """Who knows the partitions of *dataset*.

    On a local disk a folder that is there is a partition. Object stores can't move folders, so there a manifest names
    the files of each partition; it is also for those who want to add or drop partitions whose files belong to others.
    """
    live = _live(dataset)
    if dataset.frozen is None:
        return live
    return PinnedStore(dataset.frozen, dataset.layout, live, dict(dataset.credentials))


def _live(dataset: Dataset) -> DirectoryStore | LogStore | ListedStore | FileStore:
    columns = tuple(dataset.layout.columns)
    credentials = dict(dataset.credentials)
    place = at(dataset.path, credentials)
    if isinstance(dataset.layout, FilePerKey):
        return FileStore(place, dataset.path, dataset.layout, dict(dataset.find))
    if dataset.manifest is None and dataset.external is True:
        return (
            DirectoryStore(local(dataset.path), columns)
            if is_local(dataset.path)
            else ListedStore(place, dataset.path, columns)
        )
    if dataset.manifest is None and is_local(dataset.path) and not dataset.external:
        return DirectoryStore(local(dataset.path), columns)
    folder = place / MANIFEST if dataset.manifest is None else at(dataset.manifest, credentials)
    found = None if dataset.external is True else ListedStore(place, dataset.path, columns)
    return LogStore(folder, dataset.path, found, dataset.external)


def open_writable(dataset: Dataset) -> DirectoryStore | LogStore:
    """Who takes down what is written to *dataset*.

    :raises InvalidDefinitionError: if they belong to someone else.
    """
    found = open_store(dataset)
    if isinstance(found, FileStore):
        raise InvalidDefinitionError(
            f"storage {dataset.path!r} is only read, for every file there is a partition; expected folders: leave out"
            " suffix="
        )
    if isinstance(found, ListedStore | FileStore | PinnedStore) or (
        isinstance(found, DirectoryStore) and dataset.external
    ):
        raise InvalidDefinitionError(
            f"storage {dataset.path!r} is external, so it is never written; expected storage of its own,"
            " external='use-existing' or 'possess-existing', or manifest= to say which partitions there are"
        )
    return found
