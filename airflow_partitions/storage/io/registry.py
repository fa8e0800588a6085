"""The readers and writers there are, by kind of frame, protocol and format."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pkgutil import resolve_name
from typing import Generic, TypeVar
from urllib.parse import urlsplit

from airflow_partitions.core.errors import ReaderError, WriterError
from airflow_partitions.storage.dataset import Dataset
from airflow_partitions.storage.io.arrow_reader import ArrowReader, LazyPolarsReader, PandasReader, PolarsReader
from airflow_partitions.storage.io.arrow_writer import ArrowWriter, PandasWriter, PolarsWriter
from airflow_partitions.storage.io.reader import Reader
from airflow_partitions.storage.io.spark_reader import SparkReader
from airflow_partitions.storage.io.spark_writer import SparkWriter
from airflow_partitions.storage.io.writer import Writer

_ANY = ""
#: Frames by the package that their type is from.
_PACKAGES = {"pyspark": "spark", "pandas": "pandas", "polars": "polars", "pyarrow": "arrow"}
#: What of these packages is a frame.
_FRAMES = {"DataFrame", "LazyFrame", "Table", "RecordBatch"}
_Entry = TypeVar("_Entry", Reader, Writer)
#: Kind of frame, protocol and format.
_Key = tuple[str | type, str, str]


class _Registry(Generic[_Entry]):
    """Readers, or writers. The most specific one is used: by format and protocol, by format, by protocol, for all.

    :param noun: what each of them is.
    :param verb: what it does to a format.
    :param error: what is raised where there is none.
    :param own: those of files that there are to begin with.
    :param others: import paths of those of tables, which are there too.
    """

    def __init__(
        self,
        noun: str,
        verb: str,
        error: type[ReaderError | WriterError],
        own: Sequence[_Entry],
        others: Sequence[str],
    ) -> None:
        self._noun = noun
        self._verb = verb
        self._error = error
        self._own: Sequence[_Entry] = own
        self._others = others

    @cached_property
    def _entries(self) -> dict[_Key, _Entry]:
        own = [*self._own, *(entry for path in self._others for entry in resolve_name(path))]
        return {key: entry for entry in own for key in _keys(entry)}

    def register(self, entry: _Entry, *, override: bool) -> None:
        keys = _keys(entry)
        if taken := [key for key in keys if key in self._entries and not override]:
            frame, protocol, kind = taken[0]
            raise self._error(
                f"{type(self._entries[taken[0]]).__name__} {self._verb} {kind or 'any format'} on"
                f" {protocol or 'any file system'} as {frame!r} already; expected other formats or protocols, or"
                " override=True"
            )
        self._entries.update(dict.fromkeys(keys, entry))

    def get(self, frame: str | type, dataset: Dataset) -> _Entry:
        protocol, kind = urlsplit(dataset.path).scheme or "file", dataset.format
        names = _names(frame)
        for name in names:
            for of, on in ((kind, protocol), (kind, _ANY), (_ANY, protocol), (_ANY, _ANY)):
                if entry := self._entries.get((name, on, of)):
                    return entry
        frames = sorted({str(name) for name, _, _ in self._entries})
        formats = sorted({kind for name, _, kind in self._entries if name in names and kind})
        raise self._error(
            f"nothing {self._verb} format {kind!r} on {protocol!r} as {frame!r}; expected one of the frames"
            f" {', '.join(frames)}"
            + (f", or one of the formats {', '.join(formats)}" if formats else "")
            + f"; others can be added by register_{self._noun}(…)"
        )

    def has(self, frame: type) -> bool:
        names = _names(frame)
        return any(name in names for name, _, _ in self._entries)


def _keys(entry: Reader | Writer) -> list[_Key]:
    return [(entry.frame, p, f) for p in entry.protocols or (_ANY,) for f in entry.formats or (_ANY,)]


def _names(frame: str | type) -> list[str | type]:
    """What *frame* may be registered as."""
    if isinstance(frame, str):
        return [frame]
    package = frame.__module__.partition(".")[0]
    packages = [f"{package}.{frame.__name__}", _PACKAGES[package]] if package in _PACKAGES else []
    if frame.__name__ not in _FRAMES:  # a column, a value, a reader of batches
        packages = packages[:1]
    return [*frame.__mro__, *packages]


_readers: _Registry[Reader] = _Registry(
    "reader",
    "reads",
    ReaderError,
    (SparkReader(), ArrowReader(), PandasReader(), PolarsReader(), LazyPolarsReader()),
    ("airflow_partitions.storage.iceberg.table_readers:READERS",),
)
_writers: _Registry[Writer] = _Registry(
    "writer",
    "writes",
    WriterError,
    (SparkWriter(), ArrowWriter(), PandasWriter(), PolarsWriter()),
    ("airflow_partitions.storage.iceberg.table_writers:WRITERS",),
)


def register_reader(reader: Reader, *, override: bool = False) -> None:
    """Make *reader* known. The most specific one is used: by format and protocol, by format, by protocol, for all.

    :param override: take the place of another reader for the same things.
    :raises ReaderError: if there is another one, without *override*; nothing was changed.
    """
    _readers.register(reader, override=override)


def register_writer(writer: Writer, *, override: bool = False) -> None:
    """Make *writer* known, to :meth:`.Storage.save`, Spark assets and :func:`.write_many`; see :func:`register_reader`.

    :param override: take the place of another writer for the same things.
    :raises WriterError: if there is another one, without *override*; nothing was changed.
    """
    _writers.register(writer, override=override)


def reader_for(frame: str | type, dataset: Dataset) -> Reader:
    """The reader of *dataset* as *frame*.

    :raises ReaderError: if there is none.
    """
    return _readers.get(frame, dataset)


def writer_for(frame: str | type, dataset: Dataset) -> Writer:
    """The writer of *frame* as *dataset*.

    :raises WriterError: if there is none.
    """
    return _writers.get(frame, dataset)


def is_read(frame: type) -> bool:
    """Whether there is a reader of such frames, for whatever files."""
    return _readers.has(frame)


def is_written(frame: type) -> bool:
    """Whether there is a writer of such frames, for whatever files."""
    return _writers.has(frame)
