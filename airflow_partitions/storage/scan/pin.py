"""Keeping what a dataset holds for all tasks of a Dag run."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import at, create, read, remove
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.scan.snapshot import snapshot
from airflow_partitions.storage.stores.leftovers import old_files
from airflow_partitions.storage.stores.open import open_store
from airflow_partitions.storage.stores.pinned_store import PINS, form_of
from airflow_partitions.storage.table_dataset import TableDataset

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location
    from airflow_partitions.storage.iceberg.table.catalog import TableReference

#: Nobody releases the listing of a run that never comes to its end.
_KEPT = timedelta(days=7)


def is_freezable(dataset: Dataset) -> bool:
    """Whether what *dataset* holds can be kept: files without partitions can't, nothing lists them."""
    return dataset.partition is not None or isinstance(dataset, TableDataset)


def freeze(dataset: Dataset, run: str, folder: str | None) -> str:
    """Path of the listing of *dataset* for *run*: that of the first one who asks."""
    digest = hashlib.sha256(f"{dataset.place}\0{run}".encode()).hexdigest()[:24]
    with translate_errors(f"the listing of {dataset.path!r}", "kept"):
        if (own := _frozen(dataset, digest, None if folder is None else _at(dataset, folder))) is not None:
            return own
    path = folder or str(bookkeeping(_at(dataset, dataset.path)) / PINS)
    with translate_errors(f"the listing of {dataset.path!r}", f"kept in {path!r}"):
        place = _at(dataset, path)
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
    if dataset.pin is None:
        return
    with translate_errors(f"the listing of {dataset.path!r}", "released"):
        kept, current = _at(dataset, dataset.pin), dataset.pinned(None)
        if (table := _whole_table(current)) is None:
            open_store(current).release(kept)
        else:
            from airflow_partitions.storage.iceberg.table.frozen_table import release_table

            release_table(table, kept)


def _frozen(dataset: Dataset, name: str, folder: Location | None) -> str | None:
    """What its store keeps of *dataset*, if it sees to that by itself."""
    if (table := _whole_table(dataset)) is None:
        return open_store(dataset.whole()).freeze(name, folder)
    from airflow_partitions.storage.iceberg.table.frozen_table import freeze_table

    return freeze_table(table, name, folder)


def _whole_table(dataset: Dataset) -> TableReference | None:
    """The table that is read as a whole, if *dataset* is one: it has no partitions for a store to list."""
    return _reference(dataset) if isinstance(dataset, TableDataset) and dataset.partition is None else None


def _reference(dataset: TableDataset) -> TableReference:
    from airflow_partitions.storage.iceberg.table.open import reference_to

    return reference_to(dataset.pinned(None))


def _at(dataset: Dataset, path: str) -> Location:
    """The place *path*, reached as the files of *dataset* are."""
    credentials = _reference(dataset).credentials if isinstance(dataset, TableDataset) else dict(dataset.credentials)
    return at(path, credentials)
