"""Paths of storage: local folders and URIs."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from airflow_partitions.core.errors import InvalidDefinitionError, StorageError

#: Schemes as OpenLineage names them, where fsspec and Spark have others.
_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "abfss"}
#: Of these it names objects, without the slash that begins a path.
_OBJECTS = frozenset({"s3", "gs", "wasb", "wasbs"})


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


def lineage_name(path: str) -> tuple[str, str]:
    """Namespace and name of the folder at *path*, as OpenLineage's rules for names have them."""
    if is_local(path):
        return "file", str(local(path))
    parts = urlsplit(path)
    scheme = _SCHEMES.get(parts.scheme, parts.scheme)
    name = parts.path.lstrip("/") if scheme in _OBJECTS else parts.path
    return f"{scheme}://{parts.netloc}", name or "/"
