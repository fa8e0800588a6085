"""The few things that storage asks of a file system: local folders by the operating system, all others by fsspec."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow_partitions.core.calendars.instants import UTC
from airflow_partitions.core.errors import StorageError
from airflow_partitions.storage.filesystem.connection import connected
from airflow_partitions.storage.filesystem.exchange import move
from airflow_partitions.storage.filesystem.paths import is_local, local
from airflow_partitions.storage.filesystem.translate_errors import translate_errors

if TYPE_CHECKING:
    from upath import UPath

    #: A file or folder: a local one, or one on any file system that fsspec knows.
    Location = Path | UPath


_DRAFT = ".tmp"


def at(path: str, credentials: Mapping[str, Any] | None = None) -> Location:
    """The place named by an absolute path or a URI.

    :param credentials: what the file system of a URI is made with; ``conn_id`` in it stands for what is behind that
        connection of Airflow.
    :raises StorageError: if there is no such file system here, or no such connection.
    """
    if is_local(path):
        return local(path)
    try:
        with translate_errors(f"storage {path!r}", "used"):
            return _at_url(path, dict(credentials or {}))
    except (ImportError, ValueError) as error:
        raise StorageError(f"storage {path!r} can't be used: {error}") from error


def _at_url(url: str, credentials: dict[str, Any]) -> UPath:
    from upath import UPath

    if (conn_id := credentials.pop("conn_id", None)) is not None:
        credentials |= connected(urlsplit(url).scheme, conn_id)
    place: UPath = UPath(url, **credentials)
    if "s3" in place.protocol:  # it would remember listings, and show what others have changed since
        place = UPath(url, **{"use_listings_cache": False, **credentials})
    _ = place.fs  # made here, so that what is missing is told here
    return place


def read(file: Location) -> bytes | None:
    """What is in *file*, ``None`` if there is no such file."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def write(file: Location, data: bytes) -> None:
    """Make *data* the content of *file* in one step: a reader finds all of it, or what was there before."""
    if isinstance(file, Path):
        _draft(file, data).replace(file)
    else:
        file.fs.pipe_file(file.path, data)


def create(file: Location, data: bytes) -> None:
    """Make *file* with *data* in one step, if there is none. Of several that try at once, one does.

    :raises FileExistsError: if there is one; it is unchanged.
    """
    if not isinstance(file, Path):
        file.fs.pipe_file(file.path, data, mode="create")
        return
    draft = _draft(file, data)
    try:
        os.link(draft, file)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        move(draft, file)  # a file system without links
    finally:
        draft.unlink(missing_ok=True)


def names(folder: Location) -> list[str]:
    """Names of what lies directly in *folder*, sorted; none if there is no such folder.

    :raises FileNotFoundError: if there is no such bucket.
    """
    try:
        if isinstance(folder, Path):
            return sorted(entry.name for entry in folder.iterdir())
        paths = folder.fs.ls(folder.path, detail=False)
    except (FileNotFoundError, NotADirectoryError) as error:
        if error.__cause__ is not None:  # what the store said about more than the folder
            raise
        return []
    return sorted(name for path in paths if (name := path.rstrip("/")[len(folder.path.rstrip("/")) + 1 :]))


def children(folder: Location) -> dict[str, int]:
    """Name to size in bytes of the files that lie directly in *folder*.

    :raises FileNotFoundError: if there is no such folder.
    """
    if isinstance(folder, Path):
        return {entry.name: entry.stat().st_size for entry in folder.iterdir() if entry.is_file()}
    objects = folder.fs.ls(folder.path, detail=True)
    files = {info["name"].rpartition("/")[2]: info["size"] for info in objects if info["type"] == "file"}
    return {name: size for name, size in files.items() if name}


def sizes(folder: Location) -> dict[str, int]:
    """Path below *folder* to size in bytes, of all files at any depth, sorted."""
    return {name: size for name, size, _ in sorted(_walk(folder)) if not is_folder_marker(name)}


def ages(folder: Location) -> dict[str, datetime]:
    """Path below *folder* to the time of the last change, of all files and marks of folders at any depth, sorted."""
    return {name: changed for name, _, changed in sorted(_walk(folder))}


def is_folder_marker(name: str) -> bool:
    """Whether *name* is that of an empty object by which some writers mark a folder on an object store."""
    return not name or name.endswith("/")


def drafts(folder: Location) -> dict[str, datetime]:
    """Name to time of what :func:`write` and :func:`create` left directly in *folder* because they were killed."""
    if not isinstance(folder, Path):
        return {}
    return {
        name: changed
        for name in names(folder)
        if name.startswith(".") and name.endswith(_DRAFT) and (changed := changed_at(folder / name)) is not None
    }


def changed_at(place: Path) -> datetime | None:
    """The time of the last change of a file or folder; none if it has gone meanwhile, as others clear away, too."""
    try:
        return datetime.fromtimestamp(place.lstat().st_mtime, UTC)
    except FileNotFoundError:
        return None


def remove(place: Location) -> None:
    """Remove a file, or a folder with all in it, if it is there."""
    if isinstance(place, Path):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place, ignore_errors=True)  # another may be at it too
        else:
            place.unlink(missing_ok=True)
        return
    try:
        place.fs.rm(place.path, recursive=True)
    except FileNotFoundError:
        return


def relocate(file: Location, target: Location) -> None:
    """Let *file* be *target*, whose folder is made; in an object store it is copied there, and removed."""
    if isinstance(target, Path):
        target.parent.mkdir(parents=True, exist_ok=True)
    file.rename(str(target))


def _draft(file: Path, data: bytes) -> Path:
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}{_DRAFT}")
    draft.write_bytes(data)
    return draft


def _walk(folder: Location) -> Iterator[tuple[str, int, datetime]]:
    if isinstance(folder, Path):
        for parent, _, names in os.walk(folder):
            for name in names:
                path = Path(parent, name)
                try:
                    stat = path.stat()
                except FileNotFoundError:
                    continue
                yield path.relative_to(folder).as_posix(), stat.st_size, datetime.fromtimestamp(stat.st_mtime, UTC)
        return
    root = folder.path.rstrip("/") + "/"
    for path, info in folder.fs.find(folder.path, detail=True).items():
        changed = info.get("LastModified") or info.get("created") or datetime.now(UTC)
        if isinstance(changed, float):  # some file systems count seconds
            changed = datetime.fromtimestamp(changed, UTC)
        yield path[path.index(root) + len(root) :], info["size"], changed
