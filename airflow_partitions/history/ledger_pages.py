"""Pages of the ledger: a month of it in one cell, for tasks, which read the state store one cell at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

import attrs

from airflow_partitions.calendars.instants import instant, utc
from airflow_partitions.definitions import PartitionDefinition, from_json
from airflow_partitions.dependencies import Foreign, Selection
from airflow_partitions.history.ledger_keys import Addresses, month_of

#: The cell of an asset's :class:`Mark`.
MARK = "mark"


@attrs.frozen(slots=False)
class Mark:
    """How far the ledger of an asset has come.

    :ivar definition: what the keys of the asset's events mean.
    :ivar event: id of the event up to which all are in the ledger.
    :ivar until: all events before this instant are; aware.
    :ivar months: those that have a page; the empty text stands for all of a definition without time.
    """

    definition: PartitionDefinition | Foreign
    event: int = 0
    until: datetime | None = None
    months: tuple[str, ...] = ()

    @cached_property
    def addresses(self) -> Addresses:
        """Where the ledger keeps its records."""
        return Addresses.by(self.definition)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        kind = "foreign" if isinstance(self.definition, Foreign) else "definition"
        return {
            kind: self.definition.to_json(),
            "event": self.event,
            "until": None if self.until is None else self.until.isoformat(),
            "months": list(self.months),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Mark:
        """The inverse of :meth:`to_json`."""
        definition = Foreign.from_json(data["foreign"]) if "foreign" in data else from_json(data["definition"])
        until = None if data["until"] is None else datetime.fromisoformat(data["until"])
        return cls(definition, data["event"], until, tuple(data["months"]))


def cell(addresses: Addresses, month: str) -> str:
    """The cell of a page."""
    return f"page/{addresses.family}/{month}"


def page_text(made: Mapping[str, datetime]) -> str:
    """The page that tells when each key was last *made*, by the key's text."""
    return json.dumps({text: instant(at) for text, at in made.items()})


def read_page(page: Mapping[str, int]) -> dict[str, datetime]:
    """What a page tells; the inverse of :func:`page_text`, once its JSON is read."""
    return {text: utc(at) for text, at in page.items()}


def months_with(selection: Selection, months: Iterable[str]) -> Iterator[str]:
    """Those of *months* in which keys of a *selection* may begin."""
    spans = [(month_of(box.span[0]), month_of(box.span[1] - 1)) for box in selection.boxes if box.span is not None]
    timeless = selection.definition.time is None
    for month in months:
        if timeless or any(low <= month <= high for low, high in spans):
            yield month
