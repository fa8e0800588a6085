"""The readers there are, by kind of frame, protocol and format."""

from __future__ import annotations

from urllib.parse import urlsplit

from airflow_partitions.errors import ReaderError
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.arrow_reader import ArrowReader, PandasReader, PolarsReader
from airflow_partitions.storage.io.reader import Reader
from airflow_partitions.storage.io.spark_reader import SparkReader

ANY = ""
#: Frames by the package that their type is from.
_PACKAGES = {"pyspark": "spark", "pandas": "pandas", "polars": "polars", "pyarrow": "arrow"}
_readers: dict[tuple[str | type, str, str], Reader] = {}


def register_reader(reader: Reader, *, override: bool = False) -> None:
    """Make *reader* known. The most specific one is used: by format and protocol, by format, by protocol, for all.

    :param override: take the place of another reader for the same things.
    :raises ReaderError: if there is another one, without *override*; nothing was changed.
    """
    wanted = [(reader.frame, p, f) for p in reader.protocols or (ANY,) for f in reader.formats or (ANY,)]
    if taken := [each for each in wanted if each in _readers and not override]:
        frame, protocol, kind = taken[0]
        raise ReaderError(
            f"{type(_readers[taken[0]]).__name__} reads {kind or 'any format'} on {protocol or 'any file system'} as"
            f" {frame!r} already; expected other formats or protocols, or override=True"
        )
    _readers.update(dict.fromkeys(wanted, reader))


def reader_for(frame: str | type, files: Dataset) -> Reader:
    """The reader of *files* as *frame*.

    :raises ReaderError: if there is none.
    """
    protocol, kind = urlsplit(files.path).scheme or "file", files.format
    names: list[str | type] = [frame]
    if isinstance(frame, type):
        names += [_PACKAGES[package] for package in [frame.__module__.partition(".")[0]] if package in _PACKAGES]
    for name in names:
        for about in ((protocol, kind), (ANY, kind), (protocol, ANY), (ANY, ANY)):
            if found := _readers.get((name, *about)):
                return found
    frames = sorted({str(known) for known, _, _ in _readers})
    formats = sorted({kind for known, _, kind in _readers if known in names and kind})
    raise ReaderError(
        f"nothing reads format {kind!r} on {protocol!r} as {frame!r}; expected one of the frames {', '.join(frames)}"
        + (f", or one of the formats {', '.join(formats)}" if formats else "")
        + "; others can be added by register_reader(…)"
    )


for _reader in (SparkReader(), ArrowReader(), PandasReader(), PolarsReader()):
    register_reader(_reader)
