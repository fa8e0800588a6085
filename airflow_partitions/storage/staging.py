"""Where a job writes before anything is published."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import attrs

from airflow_partitions.errors import ConflictError, StorageError
from airflow_partitions.storage.attempt import Attempt
from airflow_partitions.storage.place import local

STAGING = "_staging"


@attrs.frozen
class Staging:
    """The place of one try below a storage's root. Its name starts with ``_``: readers of the root skip it.

    :ivar folder: holds everything of the try.
    """

    folder: Path

    @property
    def data(self) -> Path:
        """Folder of the files to publish. It does not exist until the job makes it."""
        return self.folder / "data"

    @property
    def result(self) -> Path:
        """The result file: written last, in one step."""
        return self.folder / "result.json"

    @property
    def error(self) -> Path:
        """Why the job gave up, if it could still say so."""
        return self.folder / "error.json"

    def remove(self) -> None:
        """Clear it away, after publishing. After a failure it stays for a look, until :func:`.cleaning.clean`."""
        shutil.rmtree(self.folder, ignore_errors=True)


def open_staging(root: str, attempt: Attempt) -> Staging:
    """Make the staging place of *attempt* below *root*, so that unusable storage fails before a job starts.

    :raises StorageError: if *root* is not local, can't be made or can't be written.
    """
    staging = Staging(check_writable(root) / STAGING / attempt.name)
    try:
        staging.folder.mkdir(parents=True)
    except FileExistsError:
        raise ConflictError(f"{staging.folder} is in use; expected {attempt} to run once") from None
    except OSError as error:
        raise StorageError(f"storage {root!r} can't be written: {error}") from error
    return staging


def check_writable(root: str) -> Path:
    """The local folder *root*, made if its parent exists (a missing parent is more likely a missing mount).

    :raises StorageError: if it is not local, can't be made or can't be written.
    """
    folder = local(root)
    try:
        folder.mkdir(exist_ok=True)
    except FileNotFoundError:
        raise StorageError(
            f"storage {root!r} can't be written: its parent folder {str(folder.parent)!r} is missing;"
            " make it, or mount it"
        ) from None
    except OSError as error:
        raise StorageError(f"storage {root!r} can't be written: {error}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise StorageError(f"storage {root!r} can't be written by this user; expected a folder with write permission")
    return folder
