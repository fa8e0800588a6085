"""A scan that ran."""

from __future__ import annotations

import attrs


@attrs.frozen
class ObservedScan:
    """One scan that ran.

    :ivar locations: folders it read from.
    :ivar roots: folders and files it was given, which it may have read a part of.
    """

    locations: frozenset[str]
    partitions: int
    files: int
    bytes: int
    rows: int
    roots: frozenset[str] = frozenset()


def normalise_path(path: str) -> str:
    """*path* in one spelling: local ones without ``file:``."""
    if path.startswith("file:"):
        return "/" + path.removeprefix("file:").lstrip("/")
    return path
