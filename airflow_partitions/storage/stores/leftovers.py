"""Leftovers of killed or failed writers in the folders of a dataset."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_partitions.storage.filesystem.filesystem import ages, changed_at, drafts, names
from airflow_partitions.storage.stores.pinned_store import PINS
from airflow_partitions.storage.stores.staging import STAGING

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


def leftovers(bookkeeping: Location, log: Location, before: datetime) -> list[Location]:
    """Staging places of failed tries, listings of runs and drafts of files that were last changed *before*.

    :param bookkeeping: what is kept about the dataset.
    :param log: where its commits are told.
    """
    folders = (bookkeeping, log)
    return [
        *_staged(bookkeeping / STAGING, before),
        *old_files(bookkeeping / PINS, before),
        *(folder / name for folder in folders for name, changed in drafts(folder).items() if changed < before),
    ]


def old_files(folder: Location, before: datetime) -> list[Location]:
    """The files in *folder* that were last changed *before*."""
    return [folder / name for name, changed in ages(folder).items() if changed < before]


def _staged(folder: Location, before: datetime) -> list[Location]:
    newest: dict[str, datetime] = {}
    if isinstance(folder, Path):  # a try that has only made its folder has no file yet
        moments = {name: changed_at(folder / name) for name in names(folder)}
        newest = {name: changed for name, changed in moments.items() if changed is not None}
    for name, changed in ages(folder).items():
        top = name.partition("/")[0]
        newest[top] = max(changed, newest.get(top, changed))
    return [folder / name for name, changed in sorted(newest.items()) if changed < before]
