"""The selected partitions that are not stored or not complete yet."""

from __future__ import annotations

from airflow_partitions.core.dependencies import Selection
from airflow_partitions.storage.consumers.ready import Ready
from airflow_partitions.storage.scan.snapshot import snapshot
from airflow_partitions.storage.storage import Storage


def missing(files: Storage, selection: Selection, ready: Ready) -> list[str]:
    """Texts of the selected keys whose partition is not stored, or not complete."""
    directories = {files.layout.directory_of(key): key for key in selection}
    stored = snapshot(files, directories.values())
    credentials = dict(files.credentials)
    return [
        str(key)
        for directory, key in directories.items()
        if directory not in stored or not ready.holds(stored[directory], credentials)
    ]
