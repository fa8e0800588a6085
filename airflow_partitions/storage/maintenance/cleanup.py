"""Removing what publishing left behind."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_partitions.core.calendars.duration import Length, duration
from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.paths import is_local, local
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.stores.directory_store import DirectoryStore
from airflow_partitions.storage.stores.open import open_writable
from airflow_partitions.storage.stores.store import Limits

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


def clean(
    storage: Dataset | str,
    *,
    keep_replaced: Length = timedelta(hours=24),
    keep_staged: Length = timedelta(days=7),
    now: datetime | None = None,
    dry_run: bool = False,
) -> list[Location]:
    """Remove replaced files, the staging places of failed tries and the listings of runs once they are old.

    What a killed commit left half done is taken back first.

    :param storage: the dataset; the path of a local folder will do.
    :param keep_replaced: how long replaced files stay.
    :param keep_staged: how long a staging place stays after its last change, and a listing; longer than any run takes.
    :param dry_run: remove nothing, only tell.
    :return: what was removed, or would be.
    """
    now = now or datetime.now(UTC)
    limits = Limits(replaced=now - duration(keep_replaced), staged=now - duration(keep_staged))
    with translate_errors(repr(storage if isinstance(storage, str) else storage.path), "cleaned up"):
        store = DirectoryStore(local(storage), ()) if isinstance(storage, str) else open_writable(storage)
        if not dry_run:
            store.recover()
        expired = [location for location in store.expired(limits) if not _is_behind_a_link(location, str(store.root))]
        for location in expired if not dry_run else []:
            store.clear_away(location)
    return expired


def _is_behind_a_link(location: Location, root: str) -> bool:
    """Whether a link within the bookkeeping of the dataset at *root* leads to *location*: then it is not ours."""
    if not isinstance(location, Path) or not is_local(root):
        return False
    own = bookkeeping(local(root))
    return any(parent.is_symlink() for parent in location.parents if parent != own and parent.is_relative_to(str(own)))
