"""Arrivals of partitions that are to be reported, and the record of those that were."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import attrs

from airflow_partitions.core.versions import check_version
from airflow_partitions.storage.consumers.consumer import Consumer
from airflow_partitions.storage.consumers.ready import Ready
from airflow_partitions.storage.storage import Storage

_VERSION = 1


@attrs.frozen
class Arrivals:
    """New partitions of a dataset, each reported once.

    :ivar files: the dataset.
    :ivar name: for whom they are reported; others with another name are told for themselves.
    :ivar ready: which partitions are complete.
    :ivar state: folder that remembers which were reported; by default in the bookkeeping of the dataset.
    :ivar lease: after this time without a word from who reports, others report.
    """

    files: Storage
    name: str
    ready: Ready = attrs.field(factory=Ready)
    state: str | None = None
    lease: timedelta = timedelta(minutes=15)

    def consumer(self, holder: str | None = None) -> Consumer:
        """The consumer that gives out the new partitions."""
        return Consumer(
            self.files,
            self.name,
            state=self.state,
            ready=self.ready,
            lease=self.lease,
            holder=holder,
        )

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        return {
            "version": _VERSION,
            "files": self.files.to_json(),
            "name": self.name,
            "ready": self.ready.to_json(),
            "state": self.state,
            "lease": self.lease.total_seconds(),
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Arrivals:
        """The arrivals whose :meth:`to_json` is *form*.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(form, _VERSION, "the watcher's form")
        return cls(
            Storage.from_json(form["files"]),
            form["name"],
            Ready.from_json(form["ready"]),
            form["state"],
            timedelta(seconds=form["lease"]),
        )
