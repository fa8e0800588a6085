"""Copies of the metadata of tables for one scan by Spark, which then needs no catalog."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from pyiceberg.manifest import ManifestContent, ManifestFile, write_manifest_list
from pyiceberg.table import Table
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.snapshots import Snapshot

from airflow_partitions.storage.iceberg.table.live_files import LiveFiles
from airflow_partitions.storage.iceberg.table.new_table import FORMAT
from airflow_partitions.storage.iceberg.table.static_metadata import form_of, version_of, without_history, write_static

_lock = Lock()


def scan_copy(table: Table, live: LiveFiles | None = None) -> Path:
    """A folder of this machine with a table that has the newest snapshot of *table*, and none before it.

    It is there until the process ends, as a frame may be read until then: one for all who read the same.

    :param live: its live files, as far as they were looked into to plan the scan: the manifests that were not are left
        out, so that Spark does not look through their list once more.
    """
    manifests = () if live is None else (manifest.manifest_path for manifest in live.data)
    metadata = table.metadata
    state = (table.metadata_location, metadata.table_uuid, metadata.current_snapshot_id, live is None, *manifests)
    folder = _copies(os.getpid()) / hashlib.sha256(repr(state).encode()).hexdigest()[:24]
    with _lock:
        if version_of(folder) is None:
            _write(table, folder, live)
    return folder


@cache
def _copies(process: int) -> Path:
    """The folder of all copies of a *process*; one that it forks has its own."""
    folder = Path(tempfile.mkdtemp(prefix="tables-"))

    def remove() -> None:
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def _write(table: Table, folder: Path, live: LiveFiles | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    form = form_of(without_history(table.metadata))
    snapshot = table.current_snapshot()
    if snapshot is not None:
        newest: dict[str, Any] = json.loads(snapshot.model_dump_json())
        if live is not None and table.format_version == FORMAT:
            deletes = (each for each in live.manifests if each.content is not ManifestContent.DATA)
            manifests = [*live.data, *deletes]
            if len(manifests) < len(live.manifests):
                newest["manifest-list"] = str(_write_list(table, snapshot, manifests, folder / "manifests.avro"))
        form["snapshots"] = [newest]
        form["refs"] = {MAIN_BRANCH: {"snapshot-id": snapshot.snapshot_id, "type": "branch"}}
    write_static(folder, form)


def _write_list(table: Table, snapshot: Snapshot, manifests: list[ManifestFile], file: Path) -> Path:
    with write_manifest_list(
        table.format_version,
        table.io.new_output(str(file)),
        snapshot.snapshot_id,
        snapshot.parent_snapshot_id,
        snapshot.sequence_number,
        "null",
    ) as writer:
        writer.add_manifests(manifests)
    return file
