"""A request for partitions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import attrs

from airflow_partitions.core.dependencies import Selection, selection_text
from airflow_partitions.core.storable import check_storable, shown_text
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
    :ivar retried: when it was, as long as some of the runs that had failed then do not work again, aware.
    :ivar partitions: number of its keys.
    :ivar damage: why it can't be read; what is left of it is without its partitions and its conf then.
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
    damage: str | None = None
    retried: datetime | None = None

    @property
    def is_making(self) -> bool:
        """Whether runs are yet to be created."""
        return self.cancelled is None and self.created < self.partitions

    @property
    def is_unfinished(self) -> bool:
        """Whether runs are yet to be created, or to be let work again."""
        return self.is_making or (self.cancelled is None and self.retried is not None)

    def to_json(self) -> dict[str, Any]:
        """JSON form for people and screens: the selection as text."""
        options, problem = attrs.asdict(self.options), self.damage
        try:
            check_storable(options["conf"])
        except ValueError as error:
            options["conf"], problem = {}, f"its conf is left out here: {error}"
        left_out = "selection", "options", "damage", "retried"
        return attrs.asdict(self, filter=lambda field, _: field.name not in left_out) | {
            "options": options | {"label": shown_text(self.options.label)},
            "by": shown_text(self.by),
            "problem": problem,
            "selection": selection_text(self.selection),
            "at": self.at.isoformat(),
            "cancelled": None if self.cancelled is None else self.cancelled.isoformat(),
        }
