"""Opening the place where a job writes."""

from __future__ import annotations

from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.paths import local
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.metadata.attempt import Attempt
from airflow_partitions.storage.stores.directory_store import DirectoryStore
from airflow_partitions.storage.stores.open import open_writable
from airflow_partitions.storage.stores.staging import Staging


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
