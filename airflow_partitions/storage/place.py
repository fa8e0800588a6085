"""Where storage lies: local folders for now."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from airflow_partitions.errors import InvalidDefinitionError, StorageError


def check_path(path: str) -> str:
    """An absolute path or a URI, without a slash at its end."""
    text = str(path)
    if not text.startswith("/") and not urlsplit(text).scheme:
        raise InvalidDefinitionError(
            f"storage path {text!r} is relative; expected an absolute one such as '/lake/flights'"
        )
    return text.rstrip("/") or "/"


def local(path: str) -> Path:
    """The local folder at *path*.

    :raises StorageError: if it is not on a local file system.
    """
    parts = urlsplit(path)
    if parts.scheme in ("", "file") and parts.netloc in ("", "localhost"):
        return Path(path if not parts.scheme else parts.path)
    raise StorageError(
        f"storage {path!r} can't be used yet; expected a local path such as '/lake/flights' or a file: URI"
    )
