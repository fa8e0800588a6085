"""The token of a server of this machine, made on first use and readable by its owner alone."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from airflow_partitions.core.errors import DeniedError

_PRIVATE = 0o600
_BYTES = 32
_SHORTEST = 32


def token_of(path: Path) -> str:
    """The token kept in the file *path*.

    :raises DeniedError: if others may read it, or it is too short to be one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        _make(path)
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & ~_PRIVATE:
        raise DeniedError(
            f"others may read the token in {path} (mode {mode:o}); expected mode 600: delete it, or chmod 600"
        )
    token = path.read_text().strip()
    if len(token) < _SHORTEST:
        raise DeniedError(
            f"the token in {path} has {len(token)} characters; expected {_SHORTEST} at least, or anybody on this"
            " machine could use the server: delete the file, and a new one is made"
        )
    return token


def _make(path: Path) -> None:
    """Make the file with a new token; whoever is killed meanwhile leaves no part of it, and the first one counts."""
    new = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _PRIVATE), "w") as file:
            file.write(secrets.token_urlsafe(_BYTES))
        with suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink(missing_ok=True)
