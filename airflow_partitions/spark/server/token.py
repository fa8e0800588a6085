"""The token of a server of this machine, made on first use and readable by its owner alone."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from airflow_partitions.core.errors import DeniedError

_PRIVATE = 0o600


def token_of(path: Path) -> str:
    """The token kept in the file *path*.

    :raises DeniedError: if others may read it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        suppress(FileExistsError),
        os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PRIVATE), "w") as new,
    ):
        new.write(secrets.token_urlsafe(32))
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & ~_PRIVATE:
        raise DeniedError(
            f"others may read the token in {path} (mode {mode:o}); expected mode 600: delete it, or chmod 600"
        )
    return path.read_text().strip()
