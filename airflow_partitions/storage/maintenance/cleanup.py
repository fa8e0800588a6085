"""Removing what publishing left behind."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.storage.commit.staging import STAGING
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.filesystem.filesystem import ages, at, drafts, is_folder_marker, names, remove
from airflow_partitions.storage.filesystem.paths import local
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.stores.directory_store import REPLACED, STAMP, DirectoryStore
from airflow_partitions.storage.stores.journal import Journal
from airflow_partitions.storage.stores.log_store import DATA, LogStore
from airflow_partitions.storage.stores.open import open_writable
from airflow_partitions.storage.stores.pinned_store import PINS, expired

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


def clean(
    storage: Dataset | str,
    *,
    keep_replaced: timedelta = timedelta(hours=24),
    keep_staged: timedelta = timedelta(days=7),
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
    limits = _Limits(now - keep_replaced, now - keep_staged)
    with translate_errors(repr(storage if isinstance(storage, str) else storage.path), "cleaned up"):
        if isinstance(storage, str):
            known: DirectoryStore | LogStore = DirectoryStore(local(storage), ())
            root: Location = local(storage)
        else:
            known, root = open_writable(storage), at(storage.path, dict(storage.credentials))
        if isinstance(known, DirectoryStore) and not dry_run:
            known.tidy()
        old = _old(known, root, limits)
        for place in old if not dry_run else []:
            remove(place)
    return old


@attrs.frozen
class _Limits:
    replaced: datetime
    staged: datetime


def _old(known: DirectoryStore | LogStore, root: Location, limits: _Limits) -> list[Location]:
    old = _old_staged(root / STAGING, limits) + expired(root / PINS, limits.staged)
    log = known.folder if isinstance(known, LogStore) else known.journal.folder
    old += [folder / n for folder in (root, log) for n, t in drafts(folder).items() if t < limits.staged]
    return old + (_old_data(known, root, limits) if isinstance(known, LogStore) else _old_replaced(known.root, limits))


def _old_staged(folder: Location, limits: _Limits) -> list[Location]:
    newest: dict[str, datetime] = {}
    if isinstance(folder, Path):  # a try that has only made its folder has no file yet
        newest = {name: datetime.fromtimestamp((folder / name).lstat().st_mtime, UTC) for name in names(folder)}
    for name, changed in ages(folder).items():
        top = name.partition("/")[0]
        newest[top] = max(changed, newest.get(top, changed))
    return [folder / name for name, changed in sorted(newest.items()) if changed < limits.staged]


def _old_replaced(root: Path, limits: _Limits) -> list[Location]:
    folder = root / REPLACED
    old: list[Location] = [folder / name for name in names(folder) if _replaced_at(name) < limits.replaced]
    journal = Journal(root)
    ended = [name for name, end in ages(journal.folder).items() if end < limits.replaced and journal.removable(name)]
    return old + [journal.folder / name for name in ended]


def _replaced_at(name: str) -> datetime:
    try:
        return datetime.strptime(name.partition("-")[0], STAMP).replace(tzinfo=UTC)
    except ValueError:  # not ours: never old
        return datetime.max.replace(tzinfo=UTC)


def _old_data(known: LogStore, root: Location, limits: _Limits) -> list[Location]:
    """Files that no partition has any more, then the entries of the log that told so."""
    log, entries = known.log.snapshot(), known.log.entries()
    used = {name for record in log.partitions.values() if not record["base"] for name in record["files"]}
    replaced = {name: entry.at for entry in entries for name in entry.removed if name not in used}
    staged = {f"{DATA}/{name}": changed for name, changed in ages(root / DATA).items()}
    there = (n for n in replaced if (n in staged if n.startswith(f"{DATA}/") else (root / n).exists()))
    old = [name for name in there if replaced[name] < limits.replaced]
    marks = {name for name in staged if is_folder_marker(name)}
    files = staged.keys() - marks
    old += [n for n in files if n not in used and n not in replaced and staged[n] < limits.staged]
    kept = {str(parent) for name in files - set(old) for parent in PurePosixPath(name).parents}
    old += [n for n in marks if n.rstrip("/") not in kept and staged[n] < limits.staged]
    checkpointed = [entry.name for entry in entries if entry.at < limits.replaced and entry.checkpointed]
    return [
        *(root / name for name in sorted(old)),
        *_empty(root, files - set(old), limits),
        *(known.folder / name for name in checkpointed + known.log.superseded(limits.replaced)),
    ]


def _empty(root: Location, kept: set[str], limits: _Limits) -> list[Location]:
    """Local folders of tries, and in them, that hold none of the files *kept*."""
    if not isinstance(root, Path):
        return []
    used = {parent for name in kept for parent in (root / name).parents}
    found: list[Location] = []
    for folder, below, _ in os.walk(root / DATA):
        for path in [Path(folder, name) for name in below]:
            if path not in used:
                below.remove(path.name)
                if datetime.fromtimestamp(path.lstat().st_mtime, UTC) < limits.staged:
                    found.append(path)
    return found
