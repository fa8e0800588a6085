"""The ledger's record of a materialized partition."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.engine.ledger.events import EventTimes


@attrs.frozen
class LedgerRecord:
    """The last materialization of a partition.

    :ivar key: text of the partition's key, as its events carry it.
    :ivar first: when it was materialized for the first time; aware.
    :ivar last: when it was last; aware.
    :ivar event: id of the last event; 0 if none explains it.
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
        """The times at which it was materialized."""
        first_event = self.event if self.first == self.last else sys.maxsize
        return EventTimes(self.first, self.last, first_event, self.event)

    def after(self, earlier: LedgerRecord | None) -> LedgerRecord:
        """This record merged with an *earlier* one; the newer of the two counts."""
        if earlier is None:
            return self
        newer = self if (self.last, self.event) >= (earlier.last, earlier.event) else earlier
        return attrs.evolve(newer, first=min(self.first, earlier.first))
