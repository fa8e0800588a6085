"""A request for partitions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, get_args

import attrs

from airflow_partitions.dependencies import Selection, selection_text
from airflow_partitions.errors import InvalidDefinitionError

#: The most runs at a time that may be asked for: what Airflow's column takes, and far more than it can run.
MOST_AT_A_TIME = 100_000

RequestState = Literal["creating", "running", "paused", "stopped", "cancelled", "done", "failed"]
REQUEST_STATES = get_args(RequestState)
#: States in which nothing happens any more, unless somebody asks for it.
ENDED = ("done", "failed", "cancelled")


@attrs.frozen
class RunOptions:
    """How the runs of a request are to go.

    :ivar concurrency: the most runs at a time.
    :ivar newest_first: begin with the newest partition, not with the oldest.
    :ivar stop_at_failure: begin no more runs once one has failed, until the request is resumed.
    :ivar label: in the note of every run.
    :ivar conf: configuration of every run.
    :ivar while_paused: make them also if the Dag is paused; its schedule begins no run until the request has ended.
    """

    concurrency: int = attrs.field(default=16)
    newest_first: bool = False
    stop_at_failure: bool = False
    label: str = ""
    conf: Mapping[str, Any] = attrs.field(factory=dict)
    while_paused: bool = False

    @concurrency.validator
    def _check_concurrency(self, _: Any, value: Any) -> None:
        if type(value) is not int or not 1 <= value <= MOST_AT_A_TIME:
            raise InvalidDefinitionError(
                f"concurrency={value!r}; expected a number of runs from 1 to {MOST_AT_A_TIME:,}"
            )

    @conf.validator
    def _check_conf(self, _: Any, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise InvalidDefinitionError(f"conf={value!r}; expected an object of JSON: names with their values")


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
