"""Opening the store of a dataset, and the place where a try writes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from pkgutil import resolve_name

from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.file_dataset import FileDataset
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.filesystem.paths import is_local, local
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.layout.file_per_key import FilePerKey, FilePerKeyLayout
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.ownership import Ownership
from airflow_partitions.storage.stores.directory_store import DirectoryStore
from airflow_partitions.storage.stores.file_store import FileStore
from airflow_partitions.storage.stores.listed_store import ListedStore
from airflow_partitions.storage.stores.log_store import LOG, LogStore
from airflow_partitions.storage.stores.member_store import MemberStore
from airflow_partitions.storage.stores.pinned_store import PinnedStore
from airflow_partitions.storage.stores.staging import Staging
from airflow_partitions.storage.stores.store import Store

_opener = cache(resolve_name)


def open_store(dataset: Dataset) -> Store:
    """The store that knows the partitions of *dataset*: the one that its class names, unless a listing pins them."""
    store: Store = _opener(dataset.store)(dataset)
    if dataset.pin is not None and store.pin is None:
        store = PinnedStore(dataset.pin, dataset.layout, store, dict(dataset.credentials))
    return store if dataset.member is None else MemberStore(store, dataset.member)


def open_writable(dataset: Dataset) -> Store:
    """The store that *dataset* is written to.

    :raises InvalidDefinitionError: if it belongs to someone else.
    """
    store = open_store(dataset)
    store.check_writable()
    return store


def open_staging(storage: Dataset | str, attempt: Attempt, directory: str = "") -> Staging:
    """Make the staging place of *attempt*, so that unusable storage fails before a job starts.

    :param storage: what is to be written; the path of a local folder will do.
    :param directory: the folder of the partition to write, if it is one.
    :raises StorageError: if *storage* can't be reached, made or written.
    :raises ConflictError: if the attempt has one already.
    """
    root = storage if isinstance(storage, str) else storage.path
    with translate_errors(f"storage {root!r}", "written"):
        store = DirectoryStore(local(storage), ()) if isinstance(storage, str) else open_writable(storage)
        return store.staging(attempt, directory)


def staging_of(storage: Dataset, attempt: Attempt, directory: str, base: int | None) -> Staging:
    """The staging place that :func:`open_staging` has made for *attempt*, in this process or another one.

    :param base: what it said there.
    :raises InvalidDefinitionError: if *storage* is only read.
    """
    return open_writable(storage).place_of(attempt, directory, base)


def store_of_files(dataset: FileDataset) -> Store:
    """The store of a *dataset* of files.

    On a local disk a folder that is there is a partition. Object stores can't move folders, so there a log names
    the files of each partition; it is also for those who want to add or drop partitions whose files belong to others.
    """
    columns = tuple(dataset.layout.columns)
    credentials = dict(dataset.credentials)
    location = at(dataset.path, credentials)
    if isinstance(dataset.partition_on, FilePerKey) and isinstance(dataset.layout, FilePerKeyLayout):
        return FileStore(location, dataset.path, dataset.layout, dict(dataset.partition_on.find))
    read_only = dataset.ownership is Ownership.READ_ONLY
    if isinstance(location, Path) and not has_log(dataset):
        return DirectoryStore(location, columns, read_only=read_only, members=dataset.members)
    others = ListedStore(location, dataset.path, columns)
    if not has_log(dataset):
        return others
    folder = bookkeeping(location) / LOG if dataset.log is None else at(dataset.log, credentials)
    return LogStore(folder, dataset.path, None if read_only else others, dataset.ownership, location=location)


def has_log(dataset: FileDataset) -> bool:
    """Whether a log names the files of the partitions, so that a folder may hold replaced ones too."""
    if dataset.log is not None:
        return True
    owned_folders = dataset.ownership is Ownership.OWNED and is_local(dataset.path)
    return not (dataset.ownership is Ownership.READ_ONLY or owned_folders)
