"""A request for partitions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.core.dependencies import Selection, selection_text
from airflow_partitions.engine.runs.run_options import RunOptions


@attrs.frozen
class Request:
    """A request for partitions of an asset: a backfill of Airflow, with exactly these keys.

    :ivar id: that of the backfill.
    :ivar dag_id: the Dag whose runs make them.
    :ivar at: when it was made, aware.
    :ivar by: who made it.
    :ivar created: number of keys, from the first on, that have a run by now.
    :ivar cancelled: when it was, aware.
    :ivar partitions: number of its keys.
    """

    id: int
    asset: str
    dag_id: str
    selection: Selection
    options: RunOptions
    at: datetime
    by: str = ""
    created: int = 0
    cancelled: datetime | None = None
    partitions: int = attrs.field(default=attrs.Factory(lambda self: len(self.selection), takes_self=True))

    @property
    def is_making(self) -> bool:
        """Whether runs are yet to be created."""
        return self.cancelled is None and self.created < self.partitions

    def to_json(self) -> dict[str, Any]:
        """JSON form for people and screens: the selection as text."""
        return attrs.asdict(self, filter=lambda field, _: field.name != "selection") | {
            "selection": selection_text(self.selection),
            "at": self.at.isoformat(),
            "cancelled": None if self.cancelled is None else self.cancelled.isoformat(),
        }
