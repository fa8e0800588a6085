"""Removing what publishing left behind."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

from airflow_partitions.storage.place import local
from airflow_partitions.storage.publishing import REPLACED, STAMP
from airflow_partitions.storage.staging import STAGING


def clean(
    root: str,
    *,
    keep_replaced: timedelta = timedelta(hours=24),
    keep_staged: timedelta = timedelta(days=7),
    now: datetime | None = None,
) -> list[Path]:
    """Remove replaced files and the staging places of failed tries once they are old.

    :param root: the storage's path.
    :param keep_replaced: how long replaced files stay.
    :param keep_staged: how long a staging place stays after its last change; longer than any job runs.
    :return: what was removed.
    """
    now, folder = now or datetime.now(UTC), local(root)
    old = [path for path in _folders(folder / REPLACED) if _replaced_at(path) < now - keep_replaced]
    old += [path for path in _folders(folder / STAGING) if _changed_at(path) < now - keep_staged]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)  # another cleaner may be at it
    return old


def _folders(parent: Path) -> list[Path]:
    return sorted(parent.iterdir()) if parent.is_dir() else []


def _replaced_at(path: Path) -> datetime:
    try:
        return datetime.strptime(path.name.partition("-")[0], STAMP).replace(tzinfo=UTC)
    except ValueError:  # not ours: never old
        return datetime.max.replace(tzinfo=UTC)


def _changed_at(path: Path) -> datetime:
    try:
        newest = max(entry.lstat().st_mtime for entry in [path, *path.rglob("*")])
    except OSError:  # it changes right now
        return datetime.max.replace(tzinfo=UTC)
    return datetime.fromtimestamp(newest, UTC)
