"""The ledger's record of a materialised partition."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

from airflow_partitions.history.clocks import CLOCKS
from airflow_partitions.history.events import EventTimes
from airflow_partitions.versions import check_version, read_number, read_time

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
        first_event = self.event if self.first == self.last else sys.maxsize
        return EventTimes(self.first, self.last, first_event, self.event)

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
    def from_json(cls, form: Mapping[str, Any]) -> LedgerRecord:
        """The inverse of :meth:`to_text`, once its JSON is read.

        :raises UnknownVersionError: if another release wrote it.
        :raises ValueError: for a partition that is yet to be materialised.
        """
        check_version(form, _VERSION, "a record of the ledger")
        first, last = (read_time(form[name]) for name in ("first", "last"))
        if not first <= last <= datetime.now(UTC) + CLOCKS:
            raise ValueError(f"nothing was materialised from {first} to {last}")
        texts = [form["key"], *(text for text in (form["dag_id"], form["run_id"]) if text is not None)]
        if not all(isinstance(text, str) for text in texts) or not isinstance(form["extra"], Mapping):
            raise ValueError("a field has a value of another type")
        return cls(form["key"], first, last, read_number(form["event"]), form["dag_id"], form["run_id"], form["extra"])
