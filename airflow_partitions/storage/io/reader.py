"""The interface of readers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from airflow_partitions.storage.io.read_request import ReadRequest


class Reader(ABC):
    """Reads files of some formats, on some file systems, as frames of one kind.

    :cvar frame: the kind: a word such as ``"pandas"``, or a type.
    :cvar protocols: names of file systems as in URLs (``"s3"``; ``"file"`` is the local one); none means all of them.
    :cvar formats: formats of files; none means all of them.
    """

    frame: ClassVar[str | type]
    protocols: ClassVar[tuple[str, ...]] = ()
    formats: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def read(self, scan: ReadRequest) -> Any:
        """One frame with the rows of *scan*."""
