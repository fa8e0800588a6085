"""Places where jobs write before anything is published."""

from __future__ import annotations

import os
import secrets
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from airflow_partitions.core.errors import ConflictError, StorageError
from airflow_partitions.storage.filesystem.bookkeeping import bookkeeping
from airflow_partitions.storage.filesystem.filesystem import create, read, remove
from airflow_partitions.storage.filesystem.paths import local
from airflow_partitions.storage.filesystem.translate_errors import translate_errors
from airflow_partitions.storage.metadata.attempt import Attempt

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

#: Folder of the staging places, in the bookkeeping of a dataset.
STAGING = "staging"
#: Folder of files that are published without being moved, in the bookkeeping: each try has a folder of its own in it.
DATA = "data"
_BEGUN = "begun"


@attrs.frozen
class Staging:
    """The place of one try, in the bookkeeping of a dataset.

    :ivar folder: holds everything of the try, or all but the files to publish.
    :ivar files: folder of the files to publish, if it is not in *folder*: where a log names them they stay in it.
    :ivar base: number of the last commit when the try began.
    """

    folder: Location
    files: Location | None = None
    base: int | None = None

    @property
    def data(self) -> Location:
        """Folder of the files to publish. It does not exist until the job makes it."""
        return self.folder / "data" if self.files is None else self.files

    @property
    def inputs(self) -> Location:
        """Folder of what is kept of the inputs, for a job that reaches no catalog."""
        return self.folder / "inputs"

    @property
    def result(self) -> Location:
        """The result file: written last, in one step."""
        return self.folder / "result.json"

    @property
    def error(self) -> Location:
        """Why the job gave up, if it could still say so."""
        return self.folder / "error.json"

    def remove(self) -> None:
        """Clear it away, after publishing. After a failure it stays for a look, until :func:`.cleanup.clean`."""
        remove(self.folder)


def check_writable(root: str) -> Path:
    """The local folder *root*, made if its parent exists (a missing parent is more likely a missing mount).

    Its bookkeeping is made too.

    :raises StorageError: if it is not local, can't be made or can't be written, or nothing can be moved to it.
    """
    folder = local(root)
    with translate_errors(f"storage {root!r}", "written"):
        try:
            folder.mkdir(exist_ok=True)
        except FileNotFoundError:
            raise StorageError(
                f"storage {root!r} can't be written: its parent folder {str(folder.parent)!r} is missing;"
                f" make it (mkdir -p {shlex.quote(str(folder.parent))}), or mount it"
            ) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StorageError(f"storage {root!r} can't be written by this user; expected a folder with write permission")
    with translate_errors(f"the bookkeeping of storage {root!r}", "kept beside it"):
        beside = bookkeeping(folder)
        beside.mkdir(exist_ok=True)
    if beside.stat().st_dev != folder.stat().st_dev:
        raise StorageError(
            f"storage {root!r} is mounted by itself, so that nothing can be moved to it from {str(beside)!r},"
            " where its bookkeeping lies; expected a folder below it"
        )
    return folder


def claim(folder: Location, attempt: Attempt) -> Location:
    """Make *folder*, for *attempt* alone.

    :raises ConflictError: if it is there.
    """
    mark = secrets.token_hex(16).encode()
    try:
        if isinstance(folder, Path):
            folder.mkdir(parents=True)
        else:  # there are no folders: a file shows that it can be written, and that nobody else does
            create(folder / _BEGUN, mark)
    except FileExistsError:
        # Ours, if the answer to an earlier request was lost on the way and the request was repeated.
        if isinstance(folder, Path) or read(folder / _BEGUN) != mark:
            raise ConflictError(f"{folder} is in use; expected {attempt} to run once") from None
    return folder
