"""Opening the store of a dataset."""

from __future__ import annotations

from functools import cache
from pkgutil import resolve_name

from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.filesystem.paths import is_local, local
from airflow_partitions.storage.layout.file_per_key import FilePerKey
from airflow_partitions.storage.stores.directory_store import DirectoryStore
from airflow_partitions.storage.stores.file_store import FileStore
from airflow_partitions.storage.stores.listed_store import ListedStore
from airflow_partitions.storage.stores.log_store import MANIFEST, LogStore
from airflow_partitions.storage.stores.pinned_store import PinnedStore
from airflow_partitions.storage.stores.store import Store
from airflow_partitions.storage.stores.table_store import TableStore

_opener = cache(resolve_name)


def open_store(dataset: Dataset) -> Store:
    """The store that knows the partitions of *dataset*: the one that its class names, unless a listing pins them."""
    store: Store = _opener(dataset.store)(dataset)
    if dataset.frozen is not None:
        store = PinnedStore(dataset.frozen, dataset.layout, store, dict(dataset.credentials))
    return store if dataset.table_name is None else TableStore(store, dataset.table_name)


def open_writable(dataset: Dataset) -> Store:
    """The store that *dataset* is written to.

    :raises InvalidDefinitionError: if it belongs to someone else.
    """
    store = open_store(dataset)
    store.check_writable()
    return store


def store_of_files(dataset: Dataset) -> Store:
    """The store of a *dataset* of files.

    On a local disk a folder that is there is a partition. Object stores can't move folders, so there a manifest names
    the files of each partition; it is also for those who want to add or drop partitions whose files belong to others.
    """
    columns = tuple(dataset.layout.columns)
    credentials = dict(dataset.credentials)
    location = at(dataset.path, credentials)
    if isinstance(dataset.layout, FilePerKey):
        return FileStore(location, dataset.path, dataset.layout, dict(dataset.find))
    if dataset.manifest is None and is_local(dataset.path) and dataset.external in (True, False):
        return DirectoryStore(local(dataset.path), columns, external=bool(dataset.external), tables=dataset.tables)
    found = ListedStore(location, dataset.path, columns)
    if dataset.manifest is None and dataset.external is True:
        return found
    folder = location / MANIFEST if dataset.manifest is None else at(dataset.manifest, credentials)
    return LogStore(
        folder, dataset.path, None if dataset.external is True else found, dataset.external, location=location
    )
