"""Files of a dataset with a log that may be removed."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from airflow_partitions.storage.filesystem.filesystem import ages, changed_at, is_folder_marker
from airflow_partitions.storage.stores.commit_log import CommitLog
from airflow_partitions.storage.stores.staging import DATA
from airflow_partitions.storage.stores.store import Limits

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location


def unused_files(log: CommitLog, root: Location, bookkeeping: Location, limits: Limits) -> list[Location]:
    """Files that no partition has any more, then the entries of the log that told so.

    :param root: the dataset, where the files of others are.
    :param bookkeeping: where ours are.
    """

    def place(name: str) -> Location:
        return (bookkeeping if name.startswith(f"{DATA}/") else root) / name

    snapshot, entries = log.snapshot(), log.entries()
    used = {name for record in snapshot.partitions.values() if not record["base"] for name in record["files"]}
    replaced = {name: entry.at for entry in entries for name in entry.removed if name not in used}
    staged = {f"{DATA}/{name}": changed for name, changed in ages(bookkeeping / DATA).items()}
    there = (n for n in replaced if (n in staged if n.startswith(f"{DATA}/") else place(n).exists()))
    old = [name for name in there if replaced[name] < limits.replaced]
    marks = {name for name in staged if is_folder_marker(name)}
    files = staged.keys() - marks
    old += [n for n in files if n not in used and n not in replaced and staged[n] < limits.staged]
    kept = {str(parent) for name in files - set(old) for parent in PurePosixPath(name).parents}
    old += [n for n in marks if n.rstrip("/") not in kept and staged[n] < limits.staged]
    checkpointed = [entry.name for entry in entries if entry.at < limits.replaced and entry.checkpointed]
    return [
        *(place(name) for name in sorted(old)),
        *_empty(bookkeeping, files - set(old), limits),
        *(log.folder / name for name in checkpointed + log.superseded(limits.replaced)),
    ]


def _empty(bookkeeping: Location, kept: set[str], limits: Limits) -> list[Location]:
    """Local folders of tries, and in them, that hold none of the files *kept*."""
    if not isinstance(bookkeeping, Path):
        return []
    used = {parent for name in kept for parent in (bookkeeping / name).parents}
    unused: list[Location] = []
    for folder, below, _ in os.walk(bookkeeping / DATA):
        for path in [Path(folder, name) for name in below]:
            if path not in used:
                below.remove(path.name)
                changed = changed_at(path)
                if changed is not None and changed < limits.staged:
                    unused.append(path)
    return unused
