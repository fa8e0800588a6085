"""The ledger's record of a materialised partition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.history.events import EventTimes
from airflow_partitions.versions import check_version

_VERSION = 1


@attrs.frozen
class LedgerRecord:
    """The last materialisation of a partition.

    :ivar key: text of the partition's key, as its events carry it.
    :ivar first: when it was materialised for the first time; aware.
    :ivar last: when it was last; aware.
    :ivar event: id of the last event.
    :ivar dag_id: the Dag that sent it; ``None`` if it came from outside.
    :ivar run_id: the run that sent it.
    :ivar extra: of the event: rows, files, bytes, inputs, and the author's own.
    """

    key: str
    first: datetime
    last: datetime
    event: int
    dag_id: str | None = None
    run_id: str | None = None
    extra: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def times(self) -> EventTimes:
        """The times at which it was materialised."""
        return EventTimes(self.first, self.last)

    def after(self, earlier: LedgerRecord | None) -> LedgerRecord:
        """This record merged with an *earlier* one; the newer of the two counts."""
        if earlier is None:
            return self
        newer = self if (self.last, self.event) >= (earlier.last, earlier.event) else earlier
        return attrs.evolve(newer, first=min(self.first, earlier.first))

    def to_text(self) -> str:
        """JSON text, read back by :meth:`from_text`."""
        times = {"first": self.first.isoformat(), "last": self.last.isoformat()}
        form = {"version": _VERSION} | attrs.asdict(self) | times
        return json.dumps(form, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> LedgerRecord:
        """The inverse of :meth:`to_text`.

        :raises UnknownVersionError: if another release wrote it.
        """
        form = json.loads(text)
        check_version(form, _VERSION, "a record of the ledger")
        del form["version"]
        times = {name: datetime.fromisoformat(form[name]) for name in ("first", "last")}
        return cls(**form | times)
