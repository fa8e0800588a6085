"""Counts in words, for logs."""

from __future__ import annotations


def count(number: int | None, noun: str) -> str:
    """A number of things: ``1 row``, ``1,200 rows``; without a number ``uncounted rows``."""
    if number is None:
        return f"uncounted {noun}s"
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(number: float) -> str:
    """A number of bytes: ``90 B``, ``1.5 kB``, ``2.0 GB``."""
    if number < 1000:
        return f"{number:.0f} B"
    for unit in ("kB", "MB", "GB"):
        number /= 1000
        if number < 999.95:
            return f"{number:.1f} {unit}"
    return f"{number / 1000:.1f} TB"
