"""Compression of files as a whole."""

from __future__ import annotations

#: Formats whose files are compressed as a whole.
FORMATS = ("csv", "json", "text")
UNCOMPRESSED = ("none", "uncompressed")
#: Spark's name of a compression to that of Arrow, and the ending of the file's name.
STREAMS = {"gzip": ("gzip", ".gz"), "bzip2": ("bz2", ".bz2")}


def stream_of(name: str) -> str | None:
    """Arrow's name of the compression of the file *name*, which its ending tells."""
    return next((stream for stream, ending in STREAMS.values() if name.endswith(ending)), None)
