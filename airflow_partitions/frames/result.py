"""Counts of what a function has read and written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from airflow_partitions.storage.metadata.counts import count, size
from airflow_partitions.storage.metadata.staged_files import StagedFiles


@attrs.frozen(kw_only=True)
class Reads:
    """What was read of one input, summed over all scans that ran.

    :ivar selected: partitions the job was promised.
    :ivar partitions: different partitions that were read.
    :ivar files: files opened; a file read by two actions counts twice.
    :ivar bytes: their size.
    :ivar rows: rows that left the scans, after filters pushed into them; ``None`` if nobody counted.
    :ivar scans: how many scans there were.
    """

    selected: int
    partitions: int = 0
    files: int = 0
    bytes: int = 0
    rows: int | None = 0
    scans: int = 0


@attrs.frozen(kw_only=True)
class Result:
    """The outcome of a function that made a partition.

    :ivar written: the files to publish.
    :ivar reads: what was read, by input.
    :ivar seconds: from the look at the inputs to the end of the write.
    """

    written: StagedFiles
    reads: Mapping[str, Reads]
    seconds: float

    def describe(self) -> str:
        """What was written and read, in one line."""
        written = self.written
        parts = [f"{count(written.rows, 'row')}, {count(len(written.files), 'file')}, {size(written.bytes)}"]
        parts += [
            f"read {name} {reads.partitions:,} of {count(reads.selected, 'partition')}, {count(reads.rows, 'row')}"
            for name, reads in self.reads.items()
        ]
        return "; ".join([*parts, *self._notes(), f"{self.seconds:.1f} s"])

    def summary(self) -> dict[str, Any]:
        """Counts for the asset event."""
        return {
            "rows": self.written.rows,
            "files": len(self.written.files),
            "bytes": self.written.bytes,
            "reads": {name: attrs.asdict(reads) for name, reads in self.reads.items()},
            "seconds": round(self.seconds, 3),
        }

    def _notes(self) -> list[str]:
        """What else there is to say, for :meth:`describe`."""
        return []
