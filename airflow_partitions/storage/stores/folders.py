"""Folders of partitions on a local disk."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.storage.filesystem.filesystem import remove
from airflow_partitions.storage.layout.escape import escape, unescape
from airflow_partitions.storage.metadata.partition_files import PartitionFiles
from airflow_partitions.storage.stores.partition_records import PartitionRecords

if TYPE_CHECKING:
    from airflow_partitions.storage.stores.store import Accept


def walk(folder: str, columns: Sequence[str], accept: Accept | None) -> Iterator[str]:
    """Folders below *folder* that have one level for each of *columns*."""
    column, prefix = columns[0], f"{escape(columns[0])}="
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if (e.name.startswith(prefix) or _is_of(column, e.name)) and e.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return
    if accept is not None:
        names = [name for name in names if accept(column, unescape(name.partition("=")[2]))]
    for name in sorted(names):
        if len(columns) == 1:
            yield name
        else:
            yield from (f"{name}/{below}" for below in walk(f"{folder}/{name}", columns[1:], accept))


def _is_of(column: str, name: str) -> bool:
    """Whether the folder *name* is one of *column*, however its writer has escaped it."""
    here, equals, _ = name.partition("=")
    return bool(equals) and unescape(here) == column


def accepts(directory: str, accept: Accept) -> bool:
    """Whether partitions in *directory* are wanted."""
    levels = (level.partition("=") for level in directory.split("/"))
    return all(accept(unescape(name), unescape(text)) for name, _, text in levels)


def files_in(folder: Path, directory: str, records: PartitionRecords, members: Sequence[str] = ()) -> PartitionFiles:
    """What is in a *folder* of the partition in *directory*, or in those of its *members* in it.

    :raises FileNotFoundError: if there is none.
    """
    with os.scandir(folder) as listing:
        entries = list(listing)
    files = {} if members else _files(entries)
    for member in members:
        with suppress(FileNotFoundError), os.scandir(folder / member) as listing:
            files |= _files(listing, f"{member}/")
    metadata = records.read(directory, (entry.name for entry in entries))
    if metadata is not None and (metadata.files, metadata.bytes) != (len(files), sum(files.values())):
        metadata = attrs.evolve(metadata, index={})  # it knows nothing of what others put there
    return PartitionFiles(str(folder), dict(sorted(files.items())), metadata, in_folder=True)


def strip(folder: Path, members: Sequence[str] = ()) -> None:
    """Remove what is hidden in the *folder* of a partition and in those of its *members*: Spark's sums, for example."""
    for place in (folder, *(folder / member for member in members)):
        with suppress(FileNotFoundError), os.scandir(place) as entries:
            for name in [entry.name for entry in entries if entry.name[0] in "_."]:
                remove(place / name)


def _files(entries: Iterable[os.DirEntry[str]], prefix: str = "") -> dict[str, int]:
    return {f"{prefix}{e.name}": e.stat().st_size for e in entries if e.name[0] not in "_." and e.is_file()}


def link(source: Path, target: Path) -> None:
    """Make *target* the same file as *source*; a copy where the file system has no links."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
            raise
        shutil.copy2(source, target)
