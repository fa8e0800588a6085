"""Keeping what a dataset holds for all tasks of a Dag run."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from datetime import datetime, timedelta

from airflow_partitions.calendars.instants import UTC
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, create, read, remove
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.scan.snapshot import snapshot
from airflow_partitions.storage.stores.leftovers import old_files
from airflow_partitions.storage.stores.open import open_store
from airflow_partitions.storage.stores.pinned_store import PINS, form_of

#: Nobody releases the listing of a run that never comes to its end.
_KEPT = timedelta(days=7)


def freeze(dataset: Dataset, run: str, folder: str | None) -> str:
    """Path of the listing of *dataset* for *run*: that of the first one who asks."""
    digest = hashlib.sha256(f"{dataset.path}\0{run}".encode()).hexdigest()[:24]
    credentials = dict(dataset.credentials)
    with translate_errors(f"the listing of {dataset.path!r}", "kept"):
        own = open_store(dataset.whole()).freeze(digest, None if folder is None else at(folder, credentials))
        if own is not None:
            return own
    path = folder or str(bookkeeping(at(dataset.path, credentials)) / PINS)
    with translate_errors(f"the listing of {dataset.path!r}", f"kept in {path!r}"):
        place = at(path, credentials)
        file = place / f"{digest}.json"
        if read(file) is None:
            whole = dataset.whole()
            partitions = {each.directory: form_of(each.content) for each in snapshot(whole).values()}
            form = {"version": 1, "path": dataset.path, "run": run, "partitions": partitions}
            place.mkdir(parents=True, exist_ok=True)
            with suppress(FileExistsError):  # another task of the run was first: its listing counts
                create(file, json.dumps(form, separators=(",", ":")).encode())
            for old in old_files(place, datetime.now(UTC) - _KEPT):
                remove(old)
    return str(file)


def release(dataset: Dataset) -> None:
    """Remove the listing of the pinned *dataset*."""
    if dataset.pin is not None:
        with translate_errors(f"the listing of {dataset.path!r}", "released"):
            open_store(dataset.pinned(None)).release(at(dataset.pin, dict(dataset.credentials)))
