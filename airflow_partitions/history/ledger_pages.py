"""Pages of the ledger: a month of it in one cell, for tasks, which read the state store one cell at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

import attrs

from airflow_partitions.calendars.instants import instant, utc
from airflow_partitions.definitions import PartitionDefinition, from_json
from airflow_partitions.dependencies import KeyFormat, Selection
from airflow_partitions.history.addresses import Addresses, month_of
from airflow_partitions.versions import check_version, read_number, read_time

#: The cell of an asset's :class:`LedgerProgress`.
PROGRESS = "ledger"
_VERSION = 1
_MONTH = re.compile(r"(\d{6})?")


@attrs.frozen(slots=False)
class LedgerProgress:
    """Progress of an asset's ledger through its events.

    :ivar definition: of the keys of the asset's events.
    :ivar event: id of the event up to which all are in the ledger.
    :ivar until: all events before this instant are; aware.
    :ivar months: those that have a page; the empty text stands for all of a definition without time.
    """

    definition: PartitionDefinition | KeyFormat
    event: int = 0
    until: datetime | None = None
    months: tuple[str, ...] = ()

    @cached_property
    def addresses(self) -> Addresses:
        """Addresses of the ledger's records."""
        return Addresses.by(self.definition)

    def to_json(self) -> dict[str, Any]:
        """JSON form, read back by :meth:`from_json`."""
        kind = "key_format" if isinstance(self.definition, KeyFormat) else "definition"
        return {
            "version": _VERSION,
            kind: self.definition.to_json(),
            "event": self.event,
            "until": None if self.until is None else self.until.isoformat(),
            "months": list(self.months),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LedgerProgress:
        """The inverse of :meth:`to_json`.

        :raises UnknownVersionError: if another release wrote it.
        """
        check_version(data, _VERSION, "the progress of a ledger")
        definition = KeyFormat.from_json(data["key_format"]) if "key_format" in data else from_json(data["definition"])
        until = None if data["until"] is None else read_time(data["until"])
        return cls(definition, read_number(data["event"]), until, tuple(map(_checked_month, data["months"])))


def _checked_month(month: Any) -> str:
    if not isinstance(month, str) or not _MONTH.fullmatch(month):
        raise ValueError(f"{month!r} is no month")
    return month


def page_cell(addresses: Addresses, month: str) -> str:
    """The cell of a page."""
    return f"page/{addresses.family}/{month}"


def page_text(times: Mapping[str, datetime]) -> str:
    """The page with the *times* at which keys were last materialised, by the key's text."""
    return json.dumps({"version": _VERSION, "times": {text: instant(at) for text, at in times.items()}})


def read_page(page: Any) -> dict[str, datetime]:
    """The times on a page; the inverse of :func:`page_text`, once its JSON is read.

    :raises UnknownVersionError: if another release wrote it.
    """
    return {text: utc(at) for text, at in read_instants(page).items()}


def read_instants(page: Any) -> dict[str, int]:
    """The times on a page, in microseconds since the epoch; as for :func:`read_page`."""
    check_version(page, _VERSION, "a page of the ledger")
    times: dict[str, int] = page["times"]
    if not all(type(at) is int for at in times.values()):
        raise ValueError("a time is no number")
    return times


def months_with(selection: Selection, months: Iterable[str]) -> Iterator[str]:
    """Those of *months* in which keys of a *selection* may begin."""
    time_ranges = [box.time_range for box in selection.boxes if box.time_range is not None]
    ranges = [(month_of(start), month_of(end - 1)) for start, end in time_ranges]
    timeless = selection.definition.time is None
    for month in months:
        if timeless or any(low <= month <= high for low, high in ranges):
            yield month
