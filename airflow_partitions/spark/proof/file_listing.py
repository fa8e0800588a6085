"""The files that a scan chose, which versions of Spark keep in different ways."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import attrs

from airflow_partitions.spark.proof.scan import normalise_path


@attrs.frozen
class FileListing:
    """The files that a scan chose.

    :ivar partitions: folders with values of partition columns, or the one without.
    :ivar files: how many there are.
    :ivar bytes: their size.
    """

    partitions: int
    files: int
    bytes: int
    _listing: Any

    @classmethod
    def of(cls, plan: Any) -> FileListing:
        """Those of the executed *plan* of a scan."""
        listing = plan.dynamicallySelectedPartitions()
        if _is_array(listing):  # Spark 3.5
            sizes = [file.getLen() for file in _files(listing)]
            return cls(len(listing), len(sizes), sum(sizes), listing)
        return cls(listing.partitionCount(), listing.totalNumberOfFiles(), listing.totalFileSize(), listing)

    def begins_in(self, folders: Collection[str]) -> bool:
        """Whether the first of them lies in one of *folders*."""
        if _is_array(self._listing):
            first = next((file.getPath() for file in _files(self._listing)), None)
        else:
            first = next((file.toPath() for file in self._listing.toPartitionArray()), None)
        return first is not None and normalise_path(first.getParent().toString()) in folders

    def folders(self) -> frozenset[str]:
        """The folders that they lie in, as Spark writes paths."""
        if _is_array(self._listing):
            return frozenset(file.getPath().getParent().toString() for file in _files(self._listing))
        return frozenset(file.toPath().getParent().toString() for file in self._listing.toPartitionArray())


def _is_array(listing: Any) -> bool:
    from py4j.java_collections import JavaArray  # type: ignore[import-untyped]

    return isinstance(listing, JavaArray)


def _files(directories: Any) -> Iterator[Any]:
    for directory in directories:
        files = directory.files()
        yield from (files.apply(i) for i in range(files.size()))
