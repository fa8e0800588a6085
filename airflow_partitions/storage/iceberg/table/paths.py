"""Paths of a table's files. Local ones have a scheme or none, by who wrote them."""

from __future__ import annotations

from collections.abc import Sequence

from airflow_partitions.storage.filesystem.paths import is_local, local


def plain(path: str) -> str:
    """*path* as all writers agree: a local one without a scheme, that of S3 as ``s3://``."""
    if is_local(path):
        return str(local(path))
    scheme, _, rest = path.partition("://")
    return f"s3://{rest}" if scheme in ("s3a", "s3n") else path


def below(location: str, path: str) -> str:
    """*path* from the folder *location*; as it is, if it lies elsewhere."""
    folder, file = f"{plain(location).rstrip('/')}/", plain(path)
    return file.removeprefix(folder)


def common(location: str, paths: Sequence[str]) -> str:
    """The folder that all *paths* are in: *location*, or the nearest above it."""
    folder = plain(location).rstrip("/")
    files = [plain(path) for path in paths]
    while folder and not all(path.startswith(f"{folder}/") for path in files):
        folder = folder.rpartition("/")[0]
    return folder
