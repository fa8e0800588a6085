"""Who knows what a dataset holds: its folders, or its manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_partitions.errors import InvalidDefinitionError
from airflow_partitions.storage.files import Files
from airflow_partitions.storage.filesystem.filesystem import at
from airflow_partitions.storage.filesystem.paths import is_local, local
from airflow_partitions.storage.stores.directory_store import DirectoryStore
from airflow_partitions.storage.stores.file_store import FilePerKey, FileStore
from airflow_partitions.storage.stores.listed_store import ListedStore
from airflow_partitions.storage.stores.log_store import MANIFEST, LogStore
from airflow_partitions.storage.stores.pinned_store import PinnedStore

if TYPE_CHECKING:
    Register = DirectoryStore | LogStore | ListedStore | FileStore | PinnedStore


def open_store(files: Files) -> Register:
    """Who knows the partitions of *files*.

    On a local disk a folder that is there is a partition. Object stores can't move folders, so there a manifest names
    the files of each partition; it is also for those who want to add or drop partitions whose files belong to others.
    """
    live = _live(files)
    if files.frozen is None:
        return live
    return PinnedStore(files.frozen, files.layout, live, dict(files.credentials))


def _live(files: Files) -> DirectoryStore | LogStore | ListedStore | FileStore:
    columns = tuple(files.layout.columns)
    credentials = dict(files.credentials)
    place = at(files.path, credentials)
    if isinstance(files.layout, FilePerKey):
        return FileStore(place, files.path, files.layout, dict(files.find))
    if files.manifest is None and files.external is True:
        return (
            DirectoryStore(local(files.path), columns)
            if is_local(files.path)
            else ListedStore(place, files.path, columns)
        )
    if files.manifest is None and is_local(files.path) and not files.external:
        return DirectoryStore(local(files.path), columns)
    folder = place / MANIFEST if files.manifest is None else at(files.manifest, credentials)
    found = None if files.external is True else ListedStore(place, files.path, columns)
    return LogStore(folder, files.path, found, files.external)


def open_writable(files: Files) -> DirectoryStore | LogStore:
    """Who takes down what is written to *files*.

    :raises InvalidDefinitionError: if they belong to someone else.
    """
    found = open_store(files)
    if isinstance(found, FileStore):
        raise InvalidDefinitionError(
            f"storage {files.path!r} is only read, for every file there is a partition; expected folders: leave out"
            " suffix="
        )
    if isinstance(found, ListedStore | FileStore | PinnedStore) or (
        isinstance(found, DirectoryStore) and files.external
    ):
        raise InvalidDefinitionError(
            f"storage {files.path!r} is external, so it is never written; expected storage of its own,"
            " external='use-existing' or 'possess-existing', or manifest= to say which partitions there are"
        )
    return found
