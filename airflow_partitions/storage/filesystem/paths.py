"""Paths of storage: local folders and URIs."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from airflow_partitions.core.errors import InvalidDefinitionError, StorageError


def check_path(path: str) -> str:
    """An absolute path or a URI, without a slash at its end."""
    text = str(path)
    if not text.startswith("/") and not urlsplit(text).scheme:
        raise InvalidDefinitionError(
            f"storage path {text!r} is relative; expected an absolute one such as '/lake/flights'"
        )
    return text.rstrip("/") or "/"


def is_local(path: str) -> bool:
    """Whether *path* is on a local file system."""
    parts = urlsplit(path)
    return parts.scheme in ("", "file") and parts.netloc in ("", "localhost")


def local(path: str) -> Path:
    """The local folder at *path*.

    :raises StorageError: if it is not on a local file system.
    """
    if is_local(path):
        return Path(path if path.startswith("/") else urlsplit(path).path)
    raise StorageError(
        f"storage {path!r} can't be used here; expected a local path such as '/lake/flights' or a file: URI"
    )
