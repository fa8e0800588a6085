"""Folders that others have written: other names for what we call otherwise, and values that no key can stand for."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from airflow_partitions.storage.filesystem.filesystem import names
from airflow_partitions.storage.layout.escape import NULL_NAME, escape, unescape

if TYPE_CHECKING:
    from airflow_partitions.storage.filesystem.filesystem import Location

#: How many names a warning has.
_SHOWN = 5


def by_canonical_name(root: str, directories: Iterable[str]) -> dict[str, str]:
    """What we call each of the *directories* below *root*, to what it is called there, in order.

    A warning names those that are left out.
    """
    by_name: dict[str, str] = {}
    nulls: list[str] = []
    doubles: list[str] = []
    for directory in directories:
        if (name := _canonical(directory)) is None:
            nulls.append(directory)
        elif by_name.setdefault(name, directory) != directory:
            other = by_name[name]
            by_name[name] = directory if directory == name else other
            doubles.append(other if directory == name else directory)
    leave_out(root, nulls, "no key stands for null")
    leave_out(root, doubles, "there is another folder for the same key")
    return dict(sorted(by_name.items()))


def leave_out(root: str, left: Sequence[str], why: str) -> None:
    """Warn that what is called *left* below *root* is not read."""
    if left:
        shown = ", ".join(map(repr, left[:_SHOWN])) + (", …" if len(left) > _SHOWN else "")
        warnings.warn(f"{len(left)} left out of {root!r}, since {why}: {shown}", UserWarning, stacklevel=2)


def name_there(root: Location, directory: str) -> str:
    """What the folder below *root* is called that is *directory* to us; that itself if there is none."""
    quoted = "/".join(map(_quoted, directory.split("/")))
    if "%" not in directory and quoted == directory:  # there is nothing to escape
        return directory
    for name in (directory, quoted):
        if (root / name).is_dir():
            return name
    return next(_alike(root, directory.split("/")), directory)


def _canonical(directory: str) -> str | None:
    """What we call *directory*, however it is escaped; ``None`` if one of its values is null."""
    levels = []
    for level in directory.split("/"):
        name, _, text = level.partition("=")
        value = unescape(text)
        if value in ("", NULL_NAME):
            return None
        levels.append(f"{escape(unescape(name))}={escape(value)}")
    return "/".join(levels)


def _quoted(level: str) -> str:
    """*level* as pyarrow and Kartothek write it."""
    name, _, text = level.partition("=")
    return f"{name}={quote(unescape(text), safe='')}"


def _alike(root: Location, levels: Sequence[str]) -> Iterator[str]:
    level, *below = levels
    value = unescape(level.partition("=")[2])
    written = names(root) if quote(value, safe="") != value else [level]  # nobody escapes letters and digits
    for name in [name for name in written if "=" in name and _canonical(name) == level]:
        if not below:
            yield name
        else:
            yield from (f"{name}/{rest}" for rest in _alike(root / name, below))
